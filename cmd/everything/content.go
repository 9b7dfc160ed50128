// content.go: what a tool can say: the five kinds of content, several of them at once, and failure.
//
// Page: server/tools, heading Tool Result. Read after main.go; next is schemas.go.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"

	"example.com/minimcp"
)

// A tool without an input schema takes no arguments.
var simpleText = tool{
	mcp.Tool{Name: "test_simple_text", Description: "Answers with a text."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return mcp.Text("This is a simple text response for testing."), nil
	},
}

var imageContent = tool{
	mcp.Tool{Name: "test_image_content", Description: "Answers with an image of one pixel."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return result(mcp.Content{"type": "image", "data": pixel, "mimeType": "image/png"}), nil
	},
}

var audioContent = tool{
	mcp.Tool{Name: "test_audio_content", Description: "Answers with a sound of two samples, which are silent."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return result(mcp.Content{"type": "audio", "data": []byte(silence), "mimeType": "audio/wav"}), nil
	},
}

// An embedded resource brings its contents along: text or, as its blob, bytes.
var embeddedResource = tool{
	mcp.Tool{Name: "test_embedded_resource", Description: "Answers with a resource and its text."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return result(mcp.Content{"type": "resource", "resource": mcp.Content{
			"uri":      "test://embedded-resource",
			"mimeType": "text/plain",
			"text":     "This is the text of the resource.",
		}}), nil
	},
}

// A resource link says where something is. Every kind of content can carry annotations, for the client, and _meta.
var resourceLink = tool{
	mcp.Tool{Name: "resource_link", Description: "Answers with a link to a resource and all that may be said of it."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return result(mcp.Content{
			"type":        "resource_link",
			"uri":         "https://example.com/report.txt",
			"name":        "report.txt",
			"title":       "The report",
			"description": "A report that does not exist.",
			"mimeType":    "text/plain",
			"size":        1024,
			"annotations": json.RawMessage(`{"audience":["user"],"priority":0.5,"lastModified":"2026-07-28T12:00:00Z"}`),
			"_meta":       map[string]any{"example.com/revision": 7},
		}), nil
	},
}

var multipleContentTypes = tool{
	mcp.Tool{Name: "test_multiple_content_types", Description: "Answers with a text, an image and a resource."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return result(
			mcp.Content{"type": "text", "text": "A pixel, and the same as a resource:"},
			mcp.Content{"type": "image", "data": pixel, "mimeType": "image/png"},
			mcp.Content{"type": "resource", "resource": mcp.Content{"uri": "test://pixel.png", "mimeType": "image/png", "blob": pixel}},
		), nil
	},
}

// An error becomes a result that says isError: it is for the model, which may do better the next time. Only an
// *mcp.Error becomes a JSON-RPC error; patterns.go has one.
var errorHandling = tool{
	mcp.Tool{Name: "test_error_handling", Description: "Always fails."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return nil, errors.New("this tool fails on purpose")
	},
}

func result(content ...mcp.Content) *mcp.Result {
	return &mcp.Result{Content: content}
}

// pixel is a PNG image of one black pixel.
var pixel = func() []byte {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // a bytes.Buffer takes all that is written
	}
	return file.Bytes()
}()

// silence is a WAV file: mono, 8000 samples a second of 8 bits each, where 0x80 is no sound.
const silence = "RIFF\x26\x00\x00\x00WAVE" +
	"fmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00" +
	"data\x02\x00\x00\x00\x80\x80"
