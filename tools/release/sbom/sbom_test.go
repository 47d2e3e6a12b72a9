package sbom

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
)

// TestDocument lists the modules of this test's own program, and compares them with the list of the go command.
func TestDocument(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := []Program{{File: "function_linux_amd64.xpkg", SHA256: "01", Binary: binary}, {File: "function_linux_arm64.xpkg", SHA256: "02", Binary: binary}}
	text, err := Document("function", "v0.1.0", time.Unix(1700000000, 0), programs)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(doc); err != nil {
		t.Errorf("Each identifier of a relationship is one of a package: %v", err)
	}
	described, err := spdxlib.GetDescribedPackageIDs(doc)
	if err != nil || len(described) != len(programs) {
		t.Errorf("The document describes each file: got %v, %v", described, err)
	}
	var got []string
	for _, p := range doc.Packages[len(programs):] {
		got = append(got, p.PackageName+" "+p.PackageVersion)
	}
	if diff := cmp.Diff(listModules(t, binary), got); diff != "" {
		t.Errorf("The document has each module of the program once: -want, +got:\n%s", diff)
	}
	if want := len(programs) * (len(got) + 1); len(doc.Relationships) != want {
		t.Errorf("Each file depends on each module: want %d relationships, got %d", want, len(doc.Relationships))
	}
	if doc.CreationInfo.Created != "2023-11-14T22:13:20Z" {
		t.Errorf("The time is that of the release: %s", doc.CreationInfo.Created)
	}
	repeat, err := Document("function", "v0.1.0", time.Unix(1700000000, 0), programs)
	if err != nil || !bytes.Equal(text, repeat) {
		t.Errorf("A second document is the same: %v", err)
	}
}

// listModules returns the modules of a program as the go command lists them, and the version of Go as that of its library.
func listModules(t *testing.T, binary string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(out), "\n")
	modules := []string{"std " + strings.TrimPrefix(first[strings.LastIndex(first, "go1"):], "go")}
	for line := range strings.Lines(rest) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "dep" {
			modules = append(modules, f[1]+" "+f[2])
		}
	}
	slices.Sort(modules)
	return modules
}

func TestDocumentRefuses(t *testing.T) {
	if _, err := Document("function", "v0.1.0", time.Unix(0, 0), []Program{{Binary: "sbom.go"}}); err == nil {
		t.Error("A file that is no Go program has no list of modules.")
	}
}

func TestElementID(t *testing.T) {
	if a, b := elementID("Module", "a/b"), elementID("Module", "a_b"); a == b || outsideID.MatchString(string(a)) {
		t.Errorf("Different names have different identifiers, of allowed characters: %s, %s", a, b)
	}
}

// TestNamespace holds the namespace of a document to SPDX 2.3, which the library does not check.
func TestNamespace(t *testing.T) {
	got := namespace("function", "v0.1.0", []Program{{File: "a", SHA256: "01"}})
	if address, err := url.Parse(got); err != nil || !address.IsAbs() || strings.Contains(got, "#") {
		t.Errorf("A namespace is an absolute URI without a fragment: %s, %v", got, err)
	}
	if rebuilt := namespace("function", "v0.1.0", []Program{{File: "a", SHA256: "02"}}); rebuilt == got {
		t.Errorf("Documents of different programs have different namespaces, got %s twice", got)
	}
}

func TestPackageURL(t *testing.T) {
	cases := map[string]struct {
		reason string
		module module
		want   string
	}{
		"Standard": {reason: "Go's own library has a package URL.", module: module{path: "std", version: "1.26.0"}, want: "pkg:golang/std@1.26.0"},
		"Capitals": {
			reason: "A path is in lower case, as databases of vulnerabilities look it up.",
			module: module{path: "github.com/Masterminds/semver/v3", version: "v3.5.0-RC1"}, want: "pkg:golang/github.com/masterminds/semver/v3@v3.5.0-RC1",
		},
		"Incompatible": {
			reason: "The plus sign of a version is escaped.",
			module: module{path: "example.org/a", version: "v2.0.0+incompatible"}, want: "pkg:golang/example.org/a@v2.0.0%2Bincompatible",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.module.packageURL()); diff != "" {
				t.Errorf("\n%s\npackageURL(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
