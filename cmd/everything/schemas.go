// schemas.go: what goes into a tool and what comes out: arguments as a Go value or as JSON, structured results, all that
// tools/list can say of a tool, and what a request says of itself.
//
// Pages: server/tools, headings Tool and Output Schema; basic/index, heading _meta. Read after content.go; next is
// patterns.go.

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"example.com/minimcp"
)

// What mcp.Typed decodes has been held against the input schema before: there is at least one number, and a model that
// sends none is told so. The result is held against the output schema; a client gets it as JSON, and as the same JSON in
// a text.
var statistics = tool{
	mcp.Tool{
		Name:        "statistics",
		Title:       "Statistics",
		Description: "Gives the least, the greatest and the mean of some numbers.",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"numbers": {"type": "array", "items": {"type": "number"}, "minItems": 1, "description": "In any order"}
			},
			"required": ["numbers"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"min": {"type": "number"}, "max": {"type": "number"}, "mean": {"type": "number"}},
			"required": ["min", "max", "mean"]
		}`),
		Annotations: json.RawMessage(`{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}`),
		Icons: json.RawMessage(`[{"src":"data:image/png;base64,` + base64.StdEncoding.EncodeToString(pixel) +
			`","mimeType":"image/png","sizes":["1x1"]}]`),
		Meta: json.RawMessage(`{"example.com/category":"arithmetic"}`),
	},
	mcp.Typed(func(ctx context.Context, call *mcp.Call, in struct{ Numbers []float64 }) (*mcp.Result, error) {
		mean := 0.0
		for _, number := range in.Numbers {
			mean += number / float64(len(in.Numbers))
		}
		return mcp.Structured(map[string]float64{
			"min":  slices.Min(in.Numbers),
			"max":  slices.Max(in.Numbers),
			"mean": mean,
		})
	}),
}

// An input schema may use JSON Schema 2020-12: here references, an anchor, combinations and conditions. A keyword that
// could not be honoured would be refused when the tool is added.
var contact = tool{
	mcp.Tool{
		Name:        "json_schema_2020_12_tool",
		Description: "Takes somebody's name and a phone number or an email address, as the preferred method demands.",
		InputSchema: json.RawMessage(`{
			"$schema": "https://json-schema.org/draft/2020-12/schema",
			"type": "object",
			"$defs": {
				"address": {
					"$anchor": "addressDef",
					"type": "object",
					"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
				}
			},
			"properties": {
				"name": {"type": "string"},
				"phone": {"type": "string"},
				"email": {"type": "string"},
				"address": {"$ref": "#/$defs/address"},
				"contactMethod": {"type": "string", "enum": ["phone", "email"]}
			},
			"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
			"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
			"then": {"required": ["phone"]},
			"else": {"required": ["email"]},
			"additionalProperties": false
		}`),
	},
	mcp.Typed(func(ctx context.Context, call *mcp.Call, in struct{ Name, Phone, Email string }) (*mcp.Result, error) {
		return mcp.Text(fmt.Sprintf("name %q, phone %q, email %q", in.Name, in.Phone, in.Email)), nil
	}),
}

// x-mcp-header asks an HTTP transport to repeat the argument in a header. On stdio it says nothing, and passes.
var region = tool{
	mcp.Tool{
		Name:        "test_x_mcp_header",
		Description: "Says which region it was asked for; over HTTP the region also goes in the header Mcp-Param-Region.",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}
		}`),
	},
	mcp.Typed(func(ctx context.Context, call *mcp.Call, in struct{ Region string }) (*mcp.Result, error) {
		return mcp.Text(fmt.Sprintf("region: %q", in.Region)), nil
	}),
}

// Arguments are there as JSON, too, for a tool that wants them just as the client wrote them.
var echo = tool{
	mcp.Tool{
		Name:        "echo",
		Description: "Returns the text it is given, to the byte.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return &mcp.Result{RawText: call.Argument("text")}, nil
	},
}

// Each request says anew what the client is and can do; the server remembers nothing. The names that others put into
// _meta, such as those of a trace, are in Raw. A result can have a _meta of its own.
var requestMeta = tool{
	mcp.Tool{Name: "request_meta", Description: "Returns the metadata of the request."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return &mcp.Result{
			StructuredContent: call.Meta.Raw,
			Meta:              json.RawMessage(`{"example.com/answers":"request_meta"}`),
		}, nil
	},
}

// The package has no notifications/message, which this revision deprecates; a server logs to stderr.
var logging = tool{
	mcp.Tool{Name: "test_logging_tool", Description: "Answers with a text and logs nothing."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return mcp.Text("Done, and nothing logged."), nil
	},
}
