package projection

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lights go green, yellow, red, and back; a broken one is mended.
func lights() Table[string] {
	return Table[string]{Start: "off", Failed: "broken", Next: map[string][]string{
		"": {"off"}, "off": {"green"}, "green": {"yellow", "broken"}, "yellow": {"red"}, "red": {"green"}, "broken": {},
	}}
}

func TestLegal(t *testing.T) {
	cases := map[string]struct {
		reason   string
		from, to string
		want     bool
	}{
		"Next":    {reason: "It is in the table.", from: "green", to: "yellow", want: true},
		"Back":    {reason: "It is not.", from: "yellow", to: "green"},
		"Start":   {reason: "All may start again.", from: "broken", to: "off", want: true},
		"Same":    {reason: "To stay is no change.", from: "green", to: "green"},
		"Unknown": {reason: "What nobody knows goes nowhere.", from: "blue", to: "green"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, lights().Legal(tc.from, tc.to)); diff != "" {
				t.Errorf("\n%s\nLegal(%q, %q): -want, +got:\n%s", tc.reason, tc.from, tc.to, diff)
			}
		})
	}
}

func TestShortest(t *testing.T) {
	cases := map[string]struct {
		reason   string
		from, to string
		restart  bool
		want     string
	}{
		"First":   {reason: "All begins at the start.", to: "off", want: "off"},
		"Far":     {reason: "What lies between is gone through.", from: "", to: "red", want: "off green yellow red"},
		"Around":  {reason: "There may be a way back.", from: "yellow", to: "green", want: "red green"},
		"Same":    {reason: "Nothing changed.", from: "red", to: "red"},
		"Again":   {reason: "It is another one.", from: "green", to: "green", restart: true, want: "off green"},
		"NoWay":   {reason: "Where there is no way it starts again.", from: "broken", to: "green", want: "off green"},
		"Unknown": {reason: "So does what nobody knows.", from: "blue", to: "off", want: "off"},
		"ToStart": {reason: "The start is one step.", from: "red", to: "off", restart: true, want: "off"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(lights().Shortest(tc.from, tc.to, tc.restart), " ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nShortest(%q, %q, %t): -want, +got:\n%s", tc.reason, tc.from, tc.to, tc.restart, diff)
			}
		})
	}
}

func TestAlong(t *testing.T) {
	cases := map[string]struct {
		reason  string
		from    string
		route   string
		restart bool
		want    string
	}{
		"On":      {reason: "It goes on from where it is.", from: "green", route: "off green yellow", want: "yellow"},
		"There":   {reason: "It is there.", from: "yellow", route: "off green yellow", want: ""},
		"Again":   {reason: "It starts again.", from: "green", route: "off green", restart: true, want: "off green"},
		"Beside":  {reason: "Who is not on the way starts again.", from: "red", route: "off green", want: "off green"},
		"Further": {reason: "What fails may have come further.", from: "green", route: "off broken", want: "broken"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(lights().Along(tc.from, strings.Fields(tc.route), tc.restart), " ")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAlong(%q, %q, %t): -want, +got:\n%s", tc.reason, tc.from, tc.route, tc.restart, diff)
			}
		})
	}
}

func TestLog(t *testing.T) {
	type entry struct {
		index    int64
		from, to string
	}
	var log []entry
	for range 30 {
		log = Log(log, func(e entry) int64 { return e.index }, "green", []string{"yellow", "red"}, func(index int64, from, to string) entry { return entry{index, from, to} })
	}
	first, last := log[MaxTransitions-2], log[MaxTransitions-1]
	if len(log) != MaxTransitions || first.from != "green" || first.to != "yellow" || last.from != "yellow" || last.to != "red" {
		t.Errorf("Log(...): %v", log)
	}
	if diff := cmp.Diff(first.index+1, last.index); diff != "" {
		t.Errorf("Log(...): index: -want, +got:\n%s", diff)
	}
}

func TestFit(t *testing.T) {
	for name, tc := range map[string]struct{ reason, text, want string }{
		"Short": {reason: "It fits.", text: "äöü", want: "äöü"},
		"Long":  {reason: "Characters are counted, and not bytes.", text: "äöüß", want: "äö…"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Fit(tc.text, 3)); diff != "" {
				t.Errorf("\n%s\nFit(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
