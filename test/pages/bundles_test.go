package pages

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/bundles/state"
)

// TestBundleExample compares the example of the page with the example that runs as a test.
func TestBundleExample(t *testing.T) {
	block := firstCodeBlock(t, readProjectFile(t, "docs/bundles.md"), "go")
	if !strings.Contains(readProjectFile(t, "bundles/state/example_test.go"), "\n"+block) {
		t.Errorf("bundles/state/example_test.go does not have the example of docs/bundles.md:\n%s", block)
	}
}

// TestBundleRecord reads the record of the page, and writes it again.
func TestBundleRecord(t *testing.T) {
	want := &bytes.Buffer{}
	if err := json.Compact(want, []byte(firstCodeBlock(t, readProjectFile(t, "docs/bundles.md"), "json"))); err != nil {
		t.Fatal(err)
	}
	s, err := state.Decode(&corev1.Secret{Data: map[string][]byte{"data": want.Bytes()}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(s)
	if diff := cmp.Diff(want.String(), string(got)); diff != "" || err != nil {
		t.Errorf("The record of docs/bundles.md, written again: %v; -want, +got:\n%s", err, diff)
	}
}

// TestBundleTables compares the tables of the page with the code: statuses and their successors, fields, methods, errors.
func TestBundleTables(t *testing.T) {
	page := readProjectFile(t, "docs/bundles.md")
	rows := rowsOfTables(page)
	for _, s := range state.Statuses() {
		next := []string{}
		for _, n := range s.Next() {
			next = append(next, string(n))
		}
		cells := rows[string(s)]
		if len(cells) != 3 {
			t.Errorf("%s has no row", s)
			continue
		}
		if diff := cmp.Diff(next, cells[2]); diff != "" {
			t.Errorf("Successors of %s: -want, +got:\n%s", s, diff)
		}
	}
	words := []string{}
	for _, structType := range []reflect.Type{reflect.TypeFor[state.BundleState](), reflect.TypeFor[state.PkgStatus]()} {
		for f := range structType.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				words = append(words, name)
			}
		}
	}
	for m := range reflect.TypeFor[*state.Client]().Methods() {
		words = append(words, m.Name)
	}
	for _, found := range regexp.MustCompile(`(?m)^\t(Err\w+) `).FindAllStringSubmatch(readProjectFile(t, "bundles/state/errors.go"), -1) {
		words = append(words, found[1])
	}
	for _, w := range words {
		if rows[w] == nil {
			t.Errorf("docs/bundles.md has no row for %s", w)
		}
	}
	if len(words) < 30 || !slices.Contains(words, "ErrNewer") {
		t.Errorf("%d fields, methods and errors were looked for: %v", len(words), words)
	}
}
