package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	config = `{"config": {"protocol_version": "v1.0.0", "scanner_name": "govulncheck", "scan_level": "symbol"}}`
	// ofModule, ofPackage, longTrace and shortTrace are findings of the same vulnerability.
	ofModule = `{"finding": {"osv": "GO-2021-0001", "fixed_version": "v1.2.0", "trace": [
		{"module": "example.org/web", "version": "v1.1.0"}]}}`
	ofPackage = `{"finding": {"osv": "GO-2021-0001", "fixed_version": "v1.2.0", "trace": [
		{"module": "example.org/web", "version": "v1.1.0", "package": "example.org/web/server"}]}}`
	longTrace = `{"finding": {"osv": "GO-2021-0001", "fixed_version": "v1.2.0", "trace": [
		{"module": "example.org/web", "version": "v1.1.0", "package": "example.org/web/server", "function": "Serve", "receiver": "*Server"},
		{"module": "example.org/own", "package": "example.org/own/inner", "function": "start"},
		{"module": "example.org/own", "package": "example.org/own", "function": "main"}]}}`
	shortTrace = `{"finding": {"osv": "GO-2021-0001", "fixed_version": "v1.2.0", "trace": [
		{"module": "example.org/web", "version": "v1.1.0", "package": "example.org/web/server", "function": "Serve", "receiver": "*Server",
			"position": {"filename": "server/server.go", "offset": 1, "line": 7, "column": 2}},
		{"module": "example.org/own", "package": "example.org/own", "function": "main",
			"position": {"filename": "main.go", "offset": 1, "line": 9, "column": 2}}]}}`
	summary = `{"osv": {"id": "GO-2021-0001", "summary": "Denial of service", "affected": []}}`
	// unfixed is a finding of the standard library.
	unfixed = `{"finding": {"osv": "GO-2020-0005", "trace": [
		{"module": "stdlib", "version": "v1.26.0", "package": "os", "function": "Open"}]}}`
)

// served is the finding of shortTrace.
func served(summary string) finding {
	return finding{
		id: "GO-2021-0001", summary: summary, dependency: "example.org/web v1.1.0", fixed: "v1.2.0",
		trace: []string{"example.org/web/server.Server.Serve (server/server.go:7)", "example.org/own.main (main.go:9)"},
	}
}

func TestParseResult(t *testing.T) {
	cases := map[string]struct {
		reason string
		output []string
		want   result
		// err is a part of the error.
		err string
	}{
		"None": {
			reason: "Vulnerabilities of other versions of a dependency are not findings.",
			output: []string{config, `{"progress": {"message": "Scanning"}}`, `{"SBOM": {"go_version": "go1.26.0"}}`, summary},
		},
		"Reached": {
			reason: "A vulnerability is listed once, with its summary and its shortest trace.",
			output: []string{config, summary, ofModule, ofPackage, longTrace, shortTrace},
			want:   result{reached: []finding{served("Denial of service")}},
		},
		"AnyOrder": {
			reason: "The order of messages does not change the result.",
			output: []string{shortTrace, longTrace, ofPackage, ofModule, summary, config},
			want:   result{reached: []finding{served("Denial of service")}},
		},
		"Unreached": {
			reason: "A vulnerability of an imported package is not reached without a vulnerable function in its trace.",
			output: []string{config, summary, ofModule, ofPackage},
			want:   result{unreached: []string{"GO-2021-0001"}},
		},
		"Sorted": {
			reason: "Findings are in the order of their identifiers, and a frame without a position has none in its text.",
			output: []string{config, shortTrace, unfixed},
			want: result{reached: []finding{
				{id: "GO-2020-0005", dependency: "stdlib v1.26.0", trace: []string{"os.Open"}}, served(""),
			}},
		},
		"Empty": {reason: "Empty output is an error.", err: `the protocol is ""`},
		"OtherFormat": {
			reason: "Output of another protocol is an error.",
			output: []string{`{"config": {"protocol_version": "v2.0.0"}}`}, err: `"v2.0.0"`,
		},
		"Truncated": {reason: "Truncated output is an error.", output: []string{config, shortTrace[:60]}, err: "unexpected EOF"},
		"NoTrace": {
			reason: "A finding without a trace is an error.",
			output: []string{config, `{"finding": {"osv": "GO-2021-0001"}}`}, err: "GO-2021-0001",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseResult(strings.NewReader(strings.Join(tc.output, "\n")))
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("\n%s\nparseResult(...): %v, want %q", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(result{}, finding{})); diff != "" {
				t.Errorf("\n%s\nparseResult(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
