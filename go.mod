module example.com/minimcp

go 1.25

require github.com/google/go-cmp v0.7.0

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	golang.org/x/perf v0.0.0-20251208221838-04cf7a2dca90 // indirect
)

tool golang.org/x/perf/cmd/benchstat
