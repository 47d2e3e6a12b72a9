package boundedyaml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// aliases returns a list of so many aliases.
func aliases(name string, count int) string {
	return "[" + strings.Repeat("*"+name+", ", count) + "]"
}

// nested returns anchors of lists, each of which has the list before a hundred times.
func nested(depth int) string {
	lines := []string{"a0: &a0 []"}
	for i := range depth {
		lines = append(lines, fmt.Sprintf("a%d: &a%d %s", i+1, i+1, aliases(fmt.Sprintf("a%d", i), 100)))
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestUnmarshal(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Plain":   {reason: "YAML without aliases is decoded.", text: "a: 1\nb: [x, '*', '&']\n"},
		"Anchors": {reason: "A few aliases are replaced.", text: "a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\n"},
		"Text": {
			reason: "Aliases of a long text stand for too much.", text: "a: &a " + strings.Repeat("x", 20_000) + "\nb: " + aliases("a", 100) + "\n",
			want: "aliases stand for more than 1 MiB of values: write the values",
		},
		"Key": {
			reason: "Aliases as keys are counted.", text: "a: &a " + strings.Repeat("x", 200_000) + "\nb:\n" + strings.Repeat("- {*a : 1}\n", 6),
			want: "aliases stand for more than 1 MiB of values: write the values",
		},
		"Nested": {reason: "Aliases of aliases stand for too much.", text: nested(3), want: "aliases stand for more than 1 MiB of values: write the values"},
		"Itself": {reason: "A value that contains itself has no size.", text: "a: &a [*a]\n", want: "aliases stand for more than 1 MiB of values: write the values"},
		"Unknown": {
			reason: "An alias needs an anchor.", text: "a: &b 1\nc: *a\n", want: "cannot parse YAML",
		},
		"SecondDocument": {
			reason: "A reader of further documents reads the second one.", text: "a: 1\n---\na: &a " + strings.Repeat("x", 20_000) + "\nb: " + aliases("a", 100) + "\n",
			want: "aliases stand for more than 1 MiB of values: write the values",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var loose, strict map[string]any
			_, jsonErr := ToJSONStrict([]byte(tc.text))
			for function, err := range map[string]error{
				"Unmarshal": Unmarshal([]byte(tc.text), &loose), "UnmarshalStrict": UnmarshalStrict([]byte(tc.text), &strict), "ToJSONStrict": jsonErr,
			} {
				got := ""
				if err != nil {
					got, _, _ = strings.Cut(err.Error(), ": yaml:")
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\n%s(...): -want, +got:\n%s", tc.reason, function, diff)
				}
			}
		})
	}
}
