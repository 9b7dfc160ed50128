package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"example.com/minimcp"
)

// newServer makes the server with the demonstration tools.
func newServer(legacy bool) (*mcp.Server, error) {
	server := mcp.NewServer(mcp.Implementation{Name: "minimcp", Version: version}, mcp.Options{
		Instructions: "Demonstration tools; nothing here acts on the world.",
		Legacy:       legacy,
	})
	for _, t := range []struct {
		tool    mcp.Tool
		handler mcp.Handler
	}{
		{addTool, mcp.Typed(add)},
		{boomTool, boom},
		{echoTool, echo},
		{weatherTool, mcp.Typed(getWeather)},
		{greetTool, greet},
		{sleepTool, mcp.Typed(sleep)},
	} {
		if err := server.AddTool(t.tool, t.handler); err != nil {
			return nil, err
		}
	}
	return server, nil
}

var addTool = mcp.Tool{
	Name:        "add",
	Description: "Adds two numbers.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`),
}

func add(ctx context.Context, call *mcp.Call, in struct{ A, B float64 }) (*mcp.Result, error) {
	sum := in.A + in.B
	if math.IsInf(sum, 0) {
		return nil, errors.New("the sum is too large for a 64-bit floating point number")
	}
	return mcp.Text(strconv.FormatFloat(sum, 'f', -1, 64)), nil
}

var boomTool = mcp.Tool{
	Name:        "boom",
	Description: "Always fails, to show what a failing tool looks like.",
	InputSchema: json.RawMessage(`{"type":"object"}`),
}

func boom(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
	return nil, errors.New("city not found")
}

var echoTool = mcp.Tool{
	Name:        "echo",
	Description: "Returns the text it is given.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
}

// echo returns the JSON of the text rather than a Go string, which could not hold a lone surrogate.
func echo(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
	return &mcp.Result{RawText: call.Argument("text")}, nil
}

var weatherTool = mcp.Tool{
	Name:        "get_weather",
	Title:       "Weather",
	Description: "Tells the weather of a place, which is made up and always the same.",
	InputSchema: json.RawMessage(`{
		"type": "object",
		"properties": {
			"location": {"type": "string", "description": "City name"},
			"days": {"type": "integer", "description": "Days from today"},
			"units": {"enum": ["c", "f"], "description": "Celsius or Fahrenheit; Celsius if left out"}
		},
		"required": ["location"],
		"additionalProperties": false
	}`),
	OutputSchema: json.RawMessage(`{
		"type": "object",
		"properties": {
			"location": {"type": "string"},
			"temperature": {"type": "number"},
			"units": {"enum": ["c", "f"]},
			"conditions": {"type": "string"}
		},
		"required": ["location", "temperature", "units", "conditions"]
	}`),
	Annotations: json.RawMessage(`{"readOnlyHint":true,"openWorldHint":false}`),
}

func getWeather(ctx context.Context, call *mcp.Call, in struct{ Location, Units string }) (*mcp.Result, error) {
	weather := struct {
		Location    string  `json:"location"`
		Temperature float64 `json:"temperature"`
		Units       string  `json:"units"`
		Conditions  string  `json:"conditions"`
	}{in.Location, 21.5, "c", "partly cloudy"}
	if in.Units == "f" {
		weather.Temperature, weather.Units = 70.7, "f"
	}
	result, err := mcp.Structured(weather)
	if err != nil {
		return nil, err
	}
	result.Text = fmt.Sprintf("%s: %.1f °%s, %s", in.Location, weather.Temperature, map[string]string{"c": "C", "f": "F"}[weather.Units], weather.Conditions)
	return result, nil
}

var greetTool = mcp.Tool{
	Name:        "greet",
	Description: "Asks the user for a name, then greets.",
	InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`),
}

// nameForm is made when it is first asked for, so that the server starts at once.
var nameForm = sync.OnceValue(func() *mcp.Form {
	return mcp.MustForm("What is your name?",
		`{"type":"object","properties":{"name":{"type":"string","title":"Name","minLength":1}},"required":["name"]}`)
})

// greet runs twice: the first time Elicit gives the question, which goes back as the error; the second time the answer.
func greet(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
	answer, err := call.Elicit("name", nameForm())
	if err != nil {
		return nil, err
	}
	switch answer.Action {
	case mcp.Decline:
		return mcp.Text("You would rather not say your name."), nil
	case mcp.Cancel:
		return mcp.Text("You closed the form without an answer."), nil
	}
	var content struct{ Name string }
	if err := answer.Decode(&content); err != nil {
		return nil, err
	}
	return mcp.Text("Hello, " + content.Name + "!"), nil
}

var sleepTool = mcp.Tool{
	Name:        "sleep",
	Description: "Waits, and reports progress after each of a number of steps.",
	InputSchema: json.RawMessage(`{
		"type": "object",
		"properties": {
			"ms": {"type": "integer", "minimum": 0, "maximum": 60000, "description": "Milliseconds in all"},
			"steps": {"type": "integer", "minimum": 1, "maximum": 100, "description": "1 if left out"}
		},
		"required": ["ms"]
	}`),
}

func sleep(ctx context.Context, call *mcp.Call, in struct{ Ms, Steps json.Number }) (*mcp.Result, error) {
	ms, err := in.Ms.Float64() // an integer, maybe written 1e3
	if err != nil {
		return nil, err
	}
	steps := 1.0
	if in.Steps != "" {
		if steps, err = in.Steps.Float64(); err != nil {
			return nil, err
		}
	}
	timer := time.NewTicker(max(1, time.Duration(ms/steps*float64(time.Millisecond))))
	defer timer.Stop()
	for step := 1.0; step <= steps; step++ {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			call.Progress(step, steps, fmt.Sprintf("step %v of %v", step, steps))
		}
	}
	return mcp.Text(fmt.Sprintf("slept %v ms", ms)), nil
}
