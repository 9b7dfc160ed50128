// Package interop holds minimcp against what others have written: real clients drive its servers as processes, and its
// Reader and Writer are given what other servers write. It is a module of its own, so that minimcp itself needs none of
// what is imported here. README.md says what came of it; all else is tests:
//
//	go test ./...           # everything; what needs Node is skipped where node or npm is missing
//	go test -update         # also writes RESULTS.md
//	go test -traces FOLDER  # also keeps what passed between clients and servers
//	go test -run Servers -record   # records the lines of the other servers anew, in testdata
package interop
