package projection

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lights go green, yellow, red, and back; a broken one is repaired.
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
		"Next":    {reason: "A change that the table has is legal.", from: "green", to: "yellow", want: true},
		"Back":    {reason: "A change that the table does not have is illegal.", from: "yellow", to: "green"},
		"Start":   {reason: "A change to the start is legal from every phase.", from: "broken", to: "off", want: true},
		"Same":    {reason: "A phase does not change to itself.", from: "green", to: "green"},
		"Unknown": {reason: "An unknown phase changes only to the start.", from: "blue", to: "green"},
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
		"First":   {reason: "A projection that begins is at the start of the table.", to: "off", want: "off"},
		"Far":     {reason: "All phases on the route are passed.", from: "", to: "red", want: "off green yellow red"},
		"Around":  {reason: "The shortest path may lead over other phases.", from: "yellow", to: "green", want: "red green"},
		"Same":    {reason: "An unchanged phase has an empty path.", from: "red", to: "red"},
		"Again":   {reason: "An object that was recreated starts again.", from: "green", to: "green", restart: true, want: "off green"},
		"NoWay":   {reason: "A phase without a path to the wanted one starts again.", from: "broken", to: "green", want: "off green"},
		"Unknown": {reason: "A phase that the table does not have begins again at the start.", from: "blue", to: "off", want: "off"},
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
		"On":      {reason: "A route continues behind the present phase.", from: "green", route: "off green yellow", want: "yellow"},
		"There":   {reason: "A route that ends at the present phase is done.", from: "yellow", route: "off green yellow", want: ""},
		"Again":   {reason: "A restart takes the whole route.", from: "green", route: "off green", restart: true, want: "off green"},
		"Beside":  {reason: "Who is not on the way starts again.", from: "red", route: "off green", want: "off green"},
		"Further": {reason: "A failure may be found in a later phase.", from: "green", route: "off broken", want: "broken"},
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

func TestLogIsBounded(t *testing.T) {
	type entry struct {
		Index    int64
		From, To string
	}
	var log []entry
	for range 30 {
		index := func(e entry) int64 { return e.Index }
		log = Log(log, index, "green", []string{"yellow", "red"}, func(i int64, source, target string) entry { return entry{Index: i, From: source, To: target} })
	}
	want := []entry{{Index: 58, From: "green", To: "yellow"}, {Index: 59, From: "yellow", To: "red"}}
	if diff := cmp.Diff(want, log[MaxTransitions-2:]); diff != "" || len(log) != MaxTransitions {
		t.Errorf("Log(...): %d entries; the last ones: -want, +got:\n%s", len(log), diff)
	}
}
