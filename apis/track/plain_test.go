package track

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

const plainConfig = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\n"

// flatWeb is the workload of web as a revision without tracks has it.
func flatWeb(added map[string]string) tree.Files {
	out := web(added)
	names := out.Names()
	if err := writeKustomization(out, kustomizationFile, names); err != nil {
		panic(err) // The names are the names of the files.
	}
	return out
}

// joinWeb returns web in the blue track with web without tracks beside it, in a state.
func joinWeb(t *testing.T, newest string, added map[string]string, s State) tree.Files {
	t.Helper()
	p, err := Split(web(map[string]string{"configmap-settings.yaml": plainConfig + "data:\n  of: track\n"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Join(placeIn(t, p, Blue), flatWeb(added), newest)
	if err != nil {
		t.Fatal(err)
	}
	return atState(t, files, s)
}

// TestJoin puts a workload without tracks beside a track, and moves the requests from one to the other.
func TestJoin(t *testing.T) {
	cases := map[string]struct {
		reason   string
		state    State
		selector map[string]any
		backends []Backend
		front    string
	}{
		"Prepared": {
			reason: "Without a label of their own, the pods without tracks are selected together with the pods of the track while they serve.",
			state:  State{Serving: Plain, Other: Blue, Ahead: 100}, selector: map[string]any{"app": "web"},
			backends: []Backend{{Service: "web", Weight: 100}, {Service: "web-blue"}}, front: "true",
		},
		"Taken": {
			reason: "The track takes all requests, in the cluster too.", state: State{Serving: Plain, Other: Blue, Weight: 100, Ahead: 100},
			selector: map[string]any{"app": "web", LabelTrack: Blue}, backends: []Backend{{Service: "web"}, {Service: "web-blue", Weight: 100}}, front: "true",
		},
		"Alone": {
			reason: "Nothing is left of the move when the track is alone.", state: State{Serving: Blue, Alone: true},
			selector: map[string]any{"app": "web", LabelTrack: Blue}, backends: []Backend{{Service: "web-blue", Weight: 100}},
		},
		"Back": {
			reason: "The track serves until the pods without tracks are there.", state: State{Serving: Blue, Other: Plain, IsLabelled: true, Ahead: 100},
			selector: map[string]any{"app": "web", LabelTrack: Blue}, backends: []Backend{{Service: "web-blue", Weight: 100}, {Service: "web"}}, front: "true",
		},
		"BackTaken": {
			reason: "Pods with a label of their own are selected alone.", state: State{Serving: Blue, Other: Plain, IsLabelled: true, Weight: 100, Ahead: 100},
			selector: map[string]any{"app": "web", LabelTrack: Plain}, backends: []Backend{{Service: "web-blue"}, {Service: "web", Weight: 100}}, front: "true",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := joinWeb(t, Blue, nil, tc.state)
			front, err := object.Decode(files["shared/service-web.yaml"])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.selector, object.MapAt(front.Object, "spec", "selector")); diff != "" {
				t.Errorf("\n%s\nselector: -want, +got:\n%s", tc.reason, diff)
			}
			if got := front.GetAnnotations()[AnnotationFront]; got != tc.front {
				t.Errorf("\n%s\nannotation: want %q, got %q", tc.reason, tc.front, got)
			}
			routes, err := Routes(files)
			if err != nil || len(routes) != 1 {
				t.Fatalf("\n%s\nRoutes(...): %v, %v", tc.reason, routes, err)
			}
			if diff := cmp.Diff(tc.backends, routes[0].Backends); diff != "" {
				t.Errorf("\n%s\nbackends: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(texts(files), texts(atState(t, atState(t, files, tc.state), tc.state))); diff != "" {
				t.Errorf("\n%s\nAt twice: -once, +twice:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestJoinPlaces says whose objects are where.
func TestJoinPlaces(t *testing.T) {
	state := State{Serving: Plain, Other: Blue, Ahead: 100}
	added := map[string]string{"configmap-settings.yaml": plainConfig + "data:\n  of: plain\n", "configmap-own.yaml": strings.Replace(plainConfig, "settings", "own", 1)}
	files := joinWeb(t, Blue, added, state)
	want := []string{
		"blue/deployment-web-blue.yaml", "blue/kustomization.yaml", "blue/service-web-blue.yaml", "kustomization.yaml", "plain/configmap-own.yaml",
		"plain/deployment-web.yaml", "plain/kustomization.yaml", "shared/configmap-settings.yaml", "shared/httproute-web.yaml", "shared/kustomization.yaml",
		"shared/service-web.yaml",
	}
	if diff := cmp.Diff(want, files.Names()); diff != "" {
		t.Errorf("\nObjects of only the revision without tracks are in its folder.\nJoin(...): -want, +got:\n%s", diff)
	}
	if got := string(files["plain/kustomization.yaml"]); !strings.Contains(got, "- configmap-own.yaml\n- deployment-web.yaml\n") {
		t.Errorf("\nThe folder lists its files.\ngot:\n%s", got)
	}
	if got := string(files[kustomizationFile]); !strings.Contains(got, "- blue\n- plain\n- shared\n") {
		t.Errorf("\nThe directory lists its folders.\ngot:\n%s", got)
	}
	for newest, content := range map[string]string{Blue: "of: track", Plain: "of: plain"} {
		if got := string(joinWeb(t, newest, added, state)["shared/configmap-settings.yaml"]); !strings.Contains(got, content) {
			t.Errorf("\nObjects of both revisions follow the newer revision.\nnewest %s: got:\n%s", newest, got)
		}
	}
	alone := atState(t, files, State{Serving: Blue, Alone: true})
	p, _ := Split(web(map[string]string{"configmap-settings.yaml": plainConfig + "data:\n  of: track\n"}), nil)
	if diff := cmp.Diff(texts(placeIn(t, p, Blue)), texts(alone)); diff != "" {
		t.Errorf("\nA track that is alone has the files that were rendered.\n-want, +got:\n%s", diff)
	}
}

func TestJoinRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		more   map[string]string
		want   string
	}{
		"NoService": {
			reason: "Requests that come by another Service would be lost.",
			more:   map[string]string{"service-web.yaml": strings.Replace(webService, "name: web", "name: site", 1)},
			want:   "Service shop/web: the revision without tracks has no such Service, so that requests could not move between the two revisions",
		},
		"Selector": {
			reason: "A Service has one selector for the pods of both.",
			more:   map[string]string{"service-web.yaml": strings.Replace(webService, "app: web", "app: site", 1)},
			want:   "Service shop/web: spec.selector is another one than in the revision without tracks: it must be the same, since requests go to the pods of both",
		},
		"Ports": {
			reason: "A Service has the same ports for the pods of both.", more: map[string]string{"service-web.yaml": webService + "  ports:\n  - port: 80\n"},
			want: "Service shop/web: spec.ports is another one than in the revision without tracks: it must be the same, since requests go to the pods of both",
		},
		"SameName": {
			reason: "One object cannot be in two folders.",
			more:   map[string]string{"deployment-web.yaml": strings.Replace(webDeployment, "name: web\n", "name: web-blue\n", 1)},
			want:   "Deployment shop/web-blue: both the track and the revision without tracks have one of this name",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Split(web(nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Join(placeIn(t, p, Blue), flatWeb(tc.more), Blue)
			if diff := cmp.Diff(tc.want, message(err)); diff != "" {
				t.Errorf("\n%s\nJoin(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLabelPods labels the pods that a Service selects, and no others. The Service that a route names selects them alone.
func TestLabelPods(t *testing.T) {
	unrouted := strings.Replace(webService, "name: web\n", "name: metrics\n", 1)
	job := strings.ReplaceAll(strings.Replace(webDeployment, "name: web\n", "name: job\n", 1), "app: web", "app: job")
	files := flatWeb(map[string]string{"deployment-job.yaml": job, "service-metrics.yaml": unrouted})
	got, err := LabelPods(files)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSuffix(webDeployment, "        app: web\n") + "        app: web\n        intentplane.dev/track: plain\n"
	if diff := cmp.Diff(want, string(got["deployment-web.yaml"])); diff != "" {
		t.Errorf("\nThe pods get the label, and the selector of the Deployment does not.\nLabelPods(...): -want, +got:\n%s", diff)
	}
	want = strings.Replace(webService, "    app: web\n", "    app: web\n    intentplane.dev/track: plain\n", 1)
	if diff := cmp.Diff(want, string(got["service-web.yaml"])); diff != "" {
		t.Errorf("\nThe Service selects the pods with the label alone, so that no other pods get requests.\nLabelPods(...): -want, +got:\n%s", diff)
	}
	relabelled, err := LabelPods(got)
	if diff := cmp.Diff(texts(got), texts(relabelled)); diff != "" || err != nil {
		t.Errorf("\nLabelled objects stay unchanged.\nLabelPods(...): %v, -want, +got:\n%s", err, diff)
	}
	got["deployment-web.yaml"], got["service-web.yaml"] = files["deployment-web.yaml"], files["service-web.yaml"]
	if diff := cmp.Diff(texts(files), texts(got)); diff != "" {
		t.Errorf("\nPods that no Service selects stay unchanged.\nLabelPods(...): -want, +got:\n%s", diff)
	}
}
