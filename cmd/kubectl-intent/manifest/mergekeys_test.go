package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMergeKeys reads documents with merge keys. The fields are the object, and absent where the strict reader refuses the document.
func TestMergeKeys(t *testing.T) {
	bomb := strings.Builder{}
	bomb.WriteString("a0: &a0 {x: one}\n")
	for i, names := 1, "abcdefghijklmnopqrstuvwxyz"; i < len(names); i++ {
		bomb.WriteString(names[i:i+1] + ": &" + names[i:i+1] + " {<<: *" + previousAnchor(names, i) + ", k: *" + previousAnchor(names, i) + "}\n")
	}
	cases := map[string]struct {
		reason, text string
		want         map[string]any
	}{
		"Plain": {reason: "A document without merge keys is read as it is.", text: "a: 1\n", want: map[string]any{"a": int64(1)}},
		"Merged": {
			reason: "A mapping takes the fields of another.", text: "a: &a {x: one}\nb: {<<: *a}\n",
			want: map[string]any{"a": fields("x", "one"), "b": fields("x", "one")},
		},
		"Override": {
			reason: "A field beside the key counts.", text: "a: &a {x: one}\nb: {<<: *a, x: two}\n",
			want: map[string]any{"a": fields("x", "one"), "b": fields("x", "two")},
		},
		"Before": {
			reason: "A field before the key counts, too.", text: "a: &a {x: one}\nb: {x: two, <<: *a}\n",
			want: map[string]any{"a": fields("x", "one"), "b": fields("x", "two")},
		},
		"List": {
			reason: "Of several mappings the first counts.", text: "a: &a {x: one}\nb: &b {x: two, q: r}\nc: {<<: [*a, *b]}\n",
			want: map[string]any{"a": fields("x", "one"), "b": fields("x", "two", "q", "r"), "c": fields("x", "one", "q", "r")},
		},
		"Chain": {
			reason: "A merged mapping may have a merge key itself.", text: "a: &a {x: one}\nb: &b {<<: *a, q: r}\nc: {<<: *b, x: two}\n",
			want: map[string]any{"a": fields("x", "one"), "b": fields("x", "one", "q", "r"), "c": fields("x", "two", "q", "r")},
		},
		"Inline":  {reason: "The value of the key may be a mapping by itself.", text: "b: {<<: {x: one}, x: two}\n", want: map[string]any{"b": fields("x", "two")}},
		"Words":   {reason: "YAML 1.1 has words for true, which stay.", text: "a: &a {x: yes}\nb: {<<: *a}\n", want: map[string]any{"a": flag("x"), "b": flag("x")}},
		"Quoted":  {reason: "A key in quotes is a field.", text: "b: {\"<<\": {x: one}}\n", want: map[string]any{"b": map[string]any{"<<": fields("x", "one")}}},
		"Twice":   {reason: "A field that comes twice is refused beside a merge key.", text: "a: &a {x: one}\nb: {<<: *a, q: r, q: s}\n"},
		"NoMap":   {reason: "A text cannot be merged.", text: "b: {<<: x}\n"},
		"Unknown": {reason: "An anchor that is not defined is refused.", text: "b: {<<: *a}\n"},
		"Bomb":    {reason: "A document that grows at each level is refused.", text: strings.Replace(bomb.String(), "*a", "*a0", 2)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseObject(Document{Text: []byte(tc.text)}.withoutMergeKeys().Text)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != (tc.want != nil) {
				t.Errorf("\n%s\nParseObject(...): error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func fields(pairs ...string) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

func flag(name string) map[string]any { return map[string]any{name: true} }

func previousAnchor(names string, i int) string { return names[i-1 : i] }

// TestMergeKeyLines finds a field of a document with merge keys in its file.
func TestMergeKeyLines(t *testing.T) {
	documents, err := ReadFile(strings.NewReader("a: &a\n  x: one\n---\nc: &c {x: one}\nb:\n  <<: *c\n  x: two\n"), "-")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(7, documents[1].LineOfField("b.x")); diff != "" {
		t.Errorf("\nA field beside a merge key has the line of the file\nLineOfField(...): -want, +got:\n%s", diff)
	}
}
