package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/bundles/state"
)

// readText returns what a file of the project has.
func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// codeBlock returns the first block of a language on the page of bundles.
func codeBlock(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("the page has no block of %s", language)
	}
	return block
}

// TestBundleExample holds the example of the page to the one that is run as a test.
func TestBundleExample(t *testing.T) {
	block := codeBlock(t, readText(t, "docs/bundles.md"), "go")
	if !strings.Contains(readText(t, "bundles/state/example_test.go"), "\n"+block) {
		t.Errorf("bundles/state/example_test.go does not have the example of docs/bundles.md:\n%s", block)
	}
}

// TestBundleRecord reads the record of the page, and writes it again.
func TestBundleRecord(t *testing.T) {
	want := &bytes.Buffer{}
	if err := json.Compact(want, []byte(codeBlock(t, readText(t, "docs/bundles.md"), "json"))); err != nil {
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

// rowsOf returns the words between backticks in each cell of each row of a page's tables, by the first word.
func rowsOf(page string) map[string][][]string {
	out := map[string][][]string{}
	for line := range strings.SplitSeq(page, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := [][]string{}
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			words := []string{}
			for _, found := range codeWord.FindAllStringSubmatch(cell, -1) {
				words = append(words, found[1])
			}
			cells = append(cells, words)
		}
		for _, word := range cells[0] {
			out[word] = cells
		}
	}
	return out
}

// TestBundleTables holds the tables of the page to the code: statuses and what may follow, fields, methods, errors.
func TestBundleTables(t *testing.T) {
	page := readText(t, "docs/bundles.md")
	rows := rowsOf(page)
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
			t.Errorf("What may follow %s: -want, +got:\n%s", s, diff)
		}
	}
	words := []string{}
	for _, of := range []reflect.Type{reflect.TypeFor[state.BundleState](), reflect.TypeFor[state.PkgStatus]()} {
		for f := range of.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				words = append(words, name)
			}
		}
	}
	for m := range reflect.TypeFor[*state.Client]().Methods() {
		words = append(words, m.Name)
	}
	for _, found := range regexp.MustCompile(`(?m)^\t(Err\w+) `).FindAllStringSubmatch(readText(t, "bundles/state/errors.go"), -1) {
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
