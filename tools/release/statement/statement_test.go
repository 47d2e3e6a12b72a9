package statement

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const digest = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

var subjects = []Subject{{Name: "install.yaml", SHA256: digest}}

func TestDescribe(t *testing.T) {
	b := Build{Version: "v0.1.0", Commit: strings.Repeat("a", 40), Go: "go1.26.0", Builder: "https://example.org/builder"}
	got, err := b.Describe(subjects)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"install.yaml","digest":{"sha256":"` + digest + `"}}],` +
		`"predicateType":"https://slsa.dev/provenance/v1","predicate":{"buildDefinition":{"buildType":"` + buildType + `",` +
		`"externalParameters":{"source":"git+https://github.com/intentplane/intentplane","version":"v0.1.0"},"resolvedDependencies":[` +
		`{"digest":{"gitCommit":"` + b.Commit + `"},"uri":"git+https://github.com/intentplane/intentplane@` + b.Commit + `"},` +
		`{"name":"go1.26.0","uri":"pkg:generic/go@go1.26.0"}]},"runDetails":{"builder":{"id":"https://example.org/builder"}}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("The provenance names source, version, compiler and builder: -want, +got:\n%s", diff)
	}
	b.Builder = ""
	if _, err := b.Describe(subjects); err == nil {
		t.Error("Provenance without a builder says nothing, and is refused.")
	}
}

func TestListContent(t *testing.T) {
	got, err := ListContent([]byte(`{"spdxVersion": "SPDX-2.3"}`), subjects)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"install.yaml","digest":{"sha256":"` + digest + `"}}],` +
		`"predicateType":"https://spdx.dev/Document","predicate":{"spdxVersion":"SPDX-2.3"}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("The statement has the document: -want, +got:\n%s", diff)
	}
	if _, err := ListContent([]byte("no JSON"), subjects); err == nil {
		t.Error("A text that is no document is refused.")
	}
	if _, err := ListContent([]byte("{}"), nil); err == nil {
		t.Error("A statement about nothing is refused.")
	}
}
