package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeScanner prints the output of govulncheck that a module has in a file, if its arguments and the database are right.
const fakeScanner = `#!/bin/sh
[ "$1 $2 $3 $5 $#" = "-format json -db ./... 5" ] || { echo "arguments: $*" >&2; exit 2; }
[ -e "${4#file://}/index/modules.json" ] && [ -e "${4#file://}/ID/GO-2021-0001.json" ] || { echo "no database: $4" >&2; exit 1; }
[ "$GOWORK" = off ] || { echo "GOWORK=$GOWORK" >&2; exit 1; }
cat output.json
`

// heading is the first line of the output.
const heading = "database with 1 entries, the newest of 2021-04-14\n"

func TestRun(t *testing.T) {
	reached := strings.Join([]string{config, summary, shortTrace}, "\n")
	const line = "\tGO-2021-0001 in example.org/web v1.1.0, fixed in v1.2.0: Denial of service\n"
	cases := map[string]struct {
		reason   string
		files    map[string]string
		accepted string
		modules  []string
		want     string
		// errs are parts of the error.
		errs []string
	}{
		"Clean": {
			reason: "Modules without a reached vulnerability pass, and a module without packages is not scanned.",
			files: map[string]string{
				"main.go": "", "output.json": config, "tools/pin/go.mod": "", "tools/own/a/a.go": "", "tools/own/output.json": config + ofPackage,
			},
			modules: []string{".", "tools/own", "tools/pin"},
			want: ".: reached vulnerabilities: 0, not reached: 0\n" +
				"tools/own: reached vulnerabilities: 0, not reached: 1\n" +
				"tools/pin: has no packages to scan\n",
		},
		"Reached": {
			reason:   "A reached vulnerability is an error, also where another module accepts it.",
			files:    map[string]string{"main.go": "", "output.json": reached},
			accepted: "tools/own GO-2021-0001 It serves nothing.",
			modules:  []string{"."},
			want: ".: reached vulnerabilities: 1, not reached: 0\n" + line +
				"\t\texample.org/web/server.Server.Serve (server/server.go:7)\n\t\texample.org/own.main (main.go:9)\n",
			errs: []string{"findings that are not accepted: 1. ", "accepted.txt"},
		},
		"Accepted": {
			reason:   "An accepted vulnerability is printed with its reason, and so is an acceptance without a vulnerability.",
			files:    map[string]string{"main.go": "", "output.json": reached},
			accepted: ". GO-2021-0001 The server is local.\n. GO-2019-0004 It was removed.\n",
			modules:  []string{"."},
			want: ".: reached vulnerabilities: 1, not reached: 0\n" + line +
				"\t\taccepted: The server is local.\n\tGO-2019-0004 is accepted and was not found: its line can be removed\n",
		},
		"NotScanned": {
			reason:  "A module that cannot be scanned is an error, and the modules after it are scanned.",
			files:   map[string]string{"tools/bad/main.go": "", "tools/own/main.go": "", "tools/own/output.json": reached},
			modules: []string{"tools/bad", "tools/missing", "tools/own"},
			want: "tools/own: reached vulnerabilities: 1, not reached: 0\n" + line +
				"\t\texample.org/web/server.Server.Serve (server/server.go:7)\n\t\texample.org/own.main (main.go:9)\n",
			errs: []string{
				"cannot scan tools/bad: ", "output.json", "cannot find packages: ", "tools/missing", "findings that are not accepted: 1. ",
			},
		},
		"NoModule": {
			reason: "A check without a module is an error.",
			errs:   []string{"name its folder"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tools := writeFiles(t, map[string]string{
				"govulncheck": fakeScanner, "entries/GO-2021-0001.json": twoModules, "accepted.txt": tc.accepted,
			})
			if err := os.Chmod(filepath.Join(tools, "govulncheck"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Chdir(writeFiles(t, tc.files))
			r := request{
				govulncheck: filepath.Join(tools, "govulncheck"), entries: filepath.Join(tools, "entries"),
				accepted: filepath.Join(tools, "accepted.txt"), modules: tc.modules,
			}
			output := &strings.Builder{}
			err := r.run(t.Context(), output)
			if (err != nil) != (len(tc.errs) > 0) {
				t.Errorf("\n%s\nrun(...): %v, want %q", tc.reason, err, tc.errs)
			}
			for _, part := range tc.errs {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("\n%s\nrun(...): %v, want %q", tc.reason, err, part)
				}
			}
			if diff := cmp.Diff(heading+tc.want, output.String()); diff != "" {
				t.Errorf("\n%s\nrun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
