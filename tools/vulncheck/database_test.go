package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	// twoModules affects two modules, one of them in two ranges.
	twoModules = `{"schema_version": "1.3.1", "id": "GO-2021-0001", "modified": "0001-01-01T00:00:00Z", "published": "2021-04-14T20:04:52Z",
		"aliases": ["CVE-2020-0001", "GHSA-aaaa-bbbb-cccc"], "details": "A request stops the server.", "affected": [
			{"package": {"name": "example.org/web"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.2.0"}]}]},
			{"package": {"name": "example.org/web"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "1.4.0"}]}]},
			{"package": {"name": "example.org/web/v2"}}]}`
	// withdrawn affects a module of twoModules.
	withdrawn = `{"id": "GO-2022-0002", "modified": "0001-01-01T00:00:00Z", "published": "2022-01-01T00:00:00Z",
		"withdrawn": "2024-06-05T00:00:00Z", "affected": [{"package": {"name": "example.org/web", "ecosystem": "Go"}}]}`
	// ofGo affects the standard library and the go command, and has a time of modification.
	ofGo = `{"id": "GO-2023-0003", "modified": "2025-02-03T04:05:06Z", "published": "2023-01-01T00:00:00Z",
		"affected": [{"package": {"name": "toolchain", "ecosystem": "Go"}}, {"package": {"name": "stdlib", "ecosystem": "Go"}}]}`
)

// writeFiles writes files into a new folder.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// readIndex decodes an index of a written database.
func readIndex[T any](t *testing.T, folder, name string) T {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "index", name))
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(content, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWriteDatabase(t *testing.T) {
	published, withdrawal, modified := "2021-04-14T20:04:52Z", "2024-06-05T00:00:00Z", "2025-02-03T04:05:06Z"
	cases := map[string]struct {
		reason  string
		entries map[string]string
		// newest is the time of the database, and modules and vulns are its indexes.
		newest         string
		modules, vulns []any
	}{
		"SeveralRanges": {
			reason:  "An entry with several ranges of a module is listed once in each of its modules, with its publication as its time.",
			entries: map[string]string{"GO-2021-0001.json": twoModules},
			newest:  published,
			modules: []any{
				map[string]any{"path": "example.org/web", "vulns": []any{map[string]any{"id": "GO-2021-0001", "modified": published}}},
				map[string]any{"path": "example.org/web/v2", "vulns": []any{map[string]any{"id": "GO-2021-0001", "modified": published}}},
			},
			vulns: []any{
				map[string]any{"id": "GO-2021-0001", "modified": published, "aliases": []any{"CVE-2020-0001", "GHSA-aaaa-bbbb-cccc"}},
			},
		},
		"Withdrawn": {
			reason:  "A withdrawn entry is listed with the time of its withdrawal, after the earlier entries of its module.",
			entries: map[string]string{"GO-2022-0002.json": withdrawn, "GO-2021-0001.json": twoModules},
			newest:  withdrawal,
			modules: []any{
				map[string]any{"path": "example.org/web", "vulns": []any{
					map[string]any{"id": "GO-2021-0001", "modified": published}, map[string]any{"id": "GO-2022-0002", "modified": withdrawal},
				}},
				map[string]any{"path": "example.org/web/v2", "vulns": []any{map[string]any{"id": "GO-2021-0001", "modified": published}}},
			},
			vulns: []any{
				map[string]any{"id": "GO-2021-0001", "modified": published, "aliases": []any{"CVE-2020-0001", "GHSA-aaaa-bbbb-cccc"}},
				map[string]any{"id": "GO-2022-0002", "modified": withdrawal},
			},
		},
		"StandardLibrary": {
			reason:  "The standard library and the go command are sorted modules, with the time of modification of their entry.",
			entries: map[string]string{"GO-2023-0003.json": ofGo},
			newest:  modified,
			modules: []any{
				map[string]any{"path": "stdlib", "vulns": []any{map[string]any{"id": "GO-2023-0003", "modified": modified}}},
				map[string]any{"path": "toolchain", "vulns": []any{map[string]any{"id": "GO-2023-0003", "modified": modified}}},
			},
			vulns: []any{map[string]any{"id": "GO-2023-0003", "modified": modified}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, err := readDatabase(writeFiles(t, tc.entries))
			if err != nil {
				t.Fatalf("\n%s\nreadDatabase(...): %v", tc.reason, err)
			}
			folder := t.TempDir()
			if err := d.write(folder); err != nil {
				t.Fatalf("\n%s\nwrite(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(map[string]any{"modified": tc.newest}, readIndex[map[string]any](t, folder, "db.json")); diff != "" {
				t.Errorf("\n%s\nindex/db.json: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.modules, readIndex[[]any](t, folder, "modules.json")); diff != "" {
				t.Errorf("\n%s\nindex/modules.json: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.vulns, readIndex[[]any](t, folder, "vulns.json")); diff != "" {
				t.Errorf("\n%s\nindex/vulns.json: -want, +got:\n%s", tc.reason, diff)
			}
			for file, want := range tc.entries {
				got, err := os.ReadFile(filepath.Join(folder, "ID", file))
				if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
					t.Errorf("\n%s\nID/%s: %v, -want, +got:\n%s", tc.reason, file, err, diff)
				}
			}
		})
	}
}

func TestReadDatabaseRefuses(t *testing.T) {
	cases := map[string]struct {
		reason  string
		entries map[string]string
		// want are parts of the error.
		want []string
	}{
		"NoJSON": {
			reason:  "A truncated entry is an error with the name of its file.",
			entries: map[string]string{"GO-2021-0001.json": twoModules, "GO-2022-0002.json": withdrawn[:40]},
			want:    []string{"cannot read entry GO-2022-0002.json: ", "unexpected end of JSON input"},
		},
		"NoTime": {
			reason:  "A time that is not RFC 3339 is an error with the name of the file.",
			entries: map[string]string{"GO-2021-0001.json": strings.Replace(twoModules, "2021-04-14T20:04:52Z", "yesterday", 1)},
			want:    []string{"cannot read entry GO-2021-0001.json: ", "yesterday"},
		},
		"OtherName": {
			reason:  "An entry in a file of another name is an error, since govulncheck would not find it.",
			entries: map[string]string{"GO-2021-0009.json": twoModules},
			want:    []string{`cannot read entry GO-2021-0009.json: the name of the file differs from the identifier "GO-2021-0001"`},
		},
		"OtherFile": {
			reason:  "A file that is not an entry is an error.",
			entries: map[string]string{"GO-2021-0001.json": twoModules, "README.md": "Entries."},
			want:    []string{"cannot read entry README.md: "},
		},
		"NoModule": {
			reason:  "An entry without an affected module is an error.",
			entries: map[string]string{"GO-2021-0001.json": `{"id": "GO-2021-0001"}`},
			want:    []string{"cannot read entry GO-2021-0001.json: no affected module"},
		},
		"NoModuleName": {
			reason:  "An affected module without a name is an error.",
			entries: map[string]string{"GO-2021-0001.json": strings.Replace(twoModules, "example.org/web/v2", "", 1)},
			want:    []string{"cannot read entry GO-2021-0001.json: an affected module has no name"},
		},
		"Empty": {
			reason: "An empty folder is an error, since a database without entries finds nothing.",
			want:   []string{"cannot find an entry in "},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := readDatabase(writeFiles(t, tc.entries))
			for _, part := range tc.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("\n%s\nreadDatabase(...): %v, want %q", tc.reason, err, part)
				}
			}
		})
	}
}

func TestLastChange(t *testing.T) {
	first, second, third := time.Unix(1, 0), time.Unix(2, 0), time.Unix(3, 0)
	cases := map[string]struct {
		reason string
		entry  entry
		want   time.Time
	}{
		"Modified":  {reason: "A modification is later than the publication.", entry: entry{Modified: second, Published: first}, want: second},
		"Published": {reason: "The publication replaces an unknown time of modification.", entry: entry{Published: first}, want: first},
		"Withdrawn": {
			reason: "The withdrawal is the last change.",
			entry:  entry{Modified: second, Published: first, Withdrawn: third}, want: third,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.entry.lastChange()); diff != "" {
				t.Errorf("\n%s\nlastChange(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
