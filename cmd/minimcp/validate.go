package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"example.com/minimcp"
)

// validate reads lines of schemas and data, {"schema":...,"data":...} with other members ignored, and answers each with
// a line of its own: {"valid":true}, {"valid":false,"problems":N,"text":"..."} with the text that a model would see, or
// {"refused":"why"}, also for a line that it cannot read. Blank lines are passed over.
func validate(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, readErr := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var text bytes.Buffer
			answers := json.NewEncoder(&text)
			answers.SetEscapeHTML(false)
			if err := answers.Encode(verdict(line)); err != nil {
				return err
			}
			if _, err := out.Write(text.Bytes()); err != nil {
				return err
			}
		}
		if readErr == io.EOF {
			return nil
		} else if readErr != nil {
			return readErr
		}
	}
}

// A judgement is the answer to one line.
type judgement struct {
	Valid    *bool  `json:"valid,omitempty"`
	Problems int    `json:"problems,omitempty"`
	Text     string `json:"text,omitempty"`
	Refused  string `json:"refused,omitempty"`
}

func verdict(line []byte) judgement {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(line, &request); err != nil || request["schema"] == nil || request["data"] == nil {
		return judgement{Refused: `the line is not {"schema":...,"data":...}`}
	}
	schema, err := mcp.CompileSchema(request["schema"])
	if err != nil {
		return judgement{Refused: err.Error()}
	}
	err = schema.Validate(request["data"])
	valid := err == nil
	if problems := (*mcp.ValidationError)(nil); errors.As(err, &problems) {
		return judgement{Valid: &valid, Problems: len(problems.Problems) + problems.More, Text: problems.Error()}
	} else if err != nil {
		return judgement{Refused: "the data: " + err.Error()}
	}
	return judgement{Valid: &valid}
}
