package track

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

func TestRoutes(t *testing.T) {
	files := atState(t, placeIn(t, splitEverything(t), Blue), State{Serving: Blue, Weight: 20, Ahead: 50})
	got, err := Routes(files)
	if err != nil {
		t.Fatalf("Routes(...): %v", err)
	}
	want := []Route{
		{Kind: "GRPCRoute", Namespace: "shop", Name: "web", Backends: []Backend{{Rule: 0, Service: "web-blue"}, {Rule: 0, Service: "web-green"}}},
		{Kind: "HTTPRoute", Namespace: "shop", Name: "web", Backends: []Backend{
			{Rule: 0, Service: "web-blue", Weight: 80},
			{Rule: 0, Service: "web-green", Weight: 20},
			{Rule: 1, Service: "web-blue", Weight: 720},
			{Rule: 1, Service: "web-green", Weight: 180},
			{Rule: 1, Service: "database", Weight: 100},
			{Rule: 2, Service: "database", Weight: 7},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Routes(...): -want, +got:\n%s", diff)
	}
}

func TestBackends(t *testing.T) {
	cases := map[string]struct {
		reason string
		refs   string
		want   []Backend
		err    string
	}{
		"Default": {reason: "A weight that is not set is 1.", refs: "    - name: a\n", want: []Backend{{Service: "a", Weight: 1}}},
		"Same": {
			reason: "Entries of one Service count together.",
			refs:   "    - {name: a, port: 1, weight: 2}\n    - {name: b}\n    - {name: a, port: 2, weight: 3}\n",
			want:   []Backend{{Service: "a", Weight: 5}, {Service: "b", Weight: 1}},
		},
		"Namespace": {
			reason: "A Service of another namespace is another Service.",
			refs:   "    - {name: a, namespace: b}\n    - {name: a, namespace: shop}\n",
			want:   []Backend{{Service: "b/a", Weight: 1}, {Service: "a", Weight: 1}},
		},
		"Kind":     {reason: "A backend that is not a Service is left out.", refs: "    - {name: a, kind: Bucket, group: example.org}\n", want: []Backend{}},
		"Negative": {reason: "A negative weight proves nothing.", refs: "    - {name: a, weight: -1}\n", err: "spec.rules[0]: weight -1 is not a whole number"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, err := object.Decode([]byte(strings.Split(webRoute, "    - name")[0] + tc.refs))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Backends(u)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Errorf("\n%s\nBackends(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBackends(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWeights(t *testing.T) {
	files := placeIn(t, splitEverything(t), Blue)
	canary := atState(t, files, State{Serving: Blue, Weight: 20, Ahead: 50})
	changed := maps.Clone(canary)
	changed["shared/httproute-web.yaml"] = []byte(strings.Replace(string(canary["shared/httproute-web.yaml"]), "weight: 80", "weight: 81", 1))
	disagree := maps.Clone(canary)
	disagree["shared/httproute-web.yaml"] = []byte(strings.NewReplacer("weight: 720", "weight: 450", "weight: 180", "weight: 450").
		Replace(string(canary["shared/httproute-web.yaml"])))
	cases := map[string]struct {
		reason string
		files  tree.Files
		want   map[string]int
		err    string
	}{
		"Alone":   {reason: "A track that is alone gets all requests, and the other track is not named.", files: files, want: map[string]int{Blue: 100}},
		"Prepare": {reason: "A track without requests has the weight 0.", files: atState(t, files, State{Serving: Blue}), want: map[string]int{Blue: 100, Green: 0}},
		"Canary": {
			reason: "Shares are percents, whatever weights the author gave, and one of weight 0 says nothing.",
			files:  canary, want: map[string]int{Blue: 80, Green: 20},
		},
		"Changed": {
			reason: "Weights that no step has are an error.",
			files:  changed,
			err:    "shared/httproute-web.yaml: the tracks get map[blue:80 green:19] percent of web: all routes must give them the same",
		},
		"Disagree": {
			reason: "Rules that give the tracks different shares are an error.",
			files:  disagree,
			err:    "shared/httproute-web.yaml: the tracks get map[blue:50 green:50] percent of web: all routes must give them the same",
		},
		"NoTracks": {
			reason: "Files without tracks have no weights.",
			files:  tree.Files{"httproute-web.yaml": []byte(webRoute)}, err: "no route sends requests to a track",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Weights(tc.files)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Errorf("\n%s\nWeights(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("\n%s\nWeights(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
