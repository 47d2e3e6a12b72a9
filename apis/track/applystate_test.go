package track

import (
	"fmt"
	"maps"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

func TestAtSizes(t *testing.T) {
	cases := map[string]struct {
		reason string
		full   string
		state  State
		want   string
	}{
		"NoSize":    {reason: "A track is never without a pod, so that the engine has something to prove.", full: "5", state: State{Serving: Blue}, want: "5 1"},
		"Prepare":   {reason: "A track that is prepared has one pod at least.", full: "5", state: State{Serving: Blue, Ahead: 5}, want: "5 1"},
		"RoundedUp": {reason: "A part of a pod is a whole one.", full: "5", state: State{Serving: Blue, Weight: 5, Ahead: 21}, want: "5 2"},
		"Exact":     {reason: "A size without a remainder is not rounded.", full: "5", state: State{Serving: Blue, Weight: 20, Ahead: 40}, want: "5 2"},
		"Full": {
			reason: "Both tracks are whole while the last weight is judged.",
			full:   "5", state: State{Serving: Blue, Weight: 100, Ahead: 100}, want: "5 5",
		},
		"OtherServes": {reason: "The track that serves is whole, whichever it is.", full: "5", state: State{Serving: Green, Weight: 20, Ahead: 40}, want: "2 5"},
		"None":        {reason: "A workload without pods stays without pods.", full: "0", state: State{Serving: Blue, Ahead: 100}, want: "0 0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Split(web(map[string]string{"deployment-web.yaml": strings.Replace(webDeployment, "replicas: 5", "replicas: "+tc.full, 1)}), nil)
			if err != nil {
				t.Fatal(err)
			}
			files := atState(t, withBoth(t, p), tc.state)
			got := []string{}
			for _, track := range []string{Blue, Green} {
				got = append(got, regexp.MustCompile(`replicas: (\d+)`).FindStringSubmatch(string(files[track+"/deployment-web-"+track+".yaml"]))[1])
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("\n%s\nreplicas of blue and green: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAtWithoutSize(t *testing.T) {
	p, err := Split(web(map[string]string{"deployment-web.yaml": strings.Replace(webDeployment, "  replicas: 5\n", "", 1)}), nil)
	if err != nil {
		t.Fatal(err)
	}
	files := atState(t, withBoth(t, p), State{Serving: Blue, Ahead: 50})
	if text := string(files["green/deployment-web-green.yaml"]); strings.Contains(text, "replicas") {
		t.Errorf("A Deployment whose autoscaler sets the replicas got some:\n%s", text)
	}
}

func TestAtFront(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  State
		want   string
	}{
		"Alone":   {reason: "A track that is alone answers callers in the cluster.", state: State{Serving: Green, Alone: true}, want: Green},
		"Canary":  {reason: "Callers in the cluster stay with the stable revision below 100.", state: State{Serving: Blue, Weight: 99, Ahead: 100}, want: Blue},
		"Hundred": {reason: "Callers in the cluster are switched once, at 100.", state: State{Serving: Blue, Weight: 100, Ahead: 100}, want: Green},
	}
	files := placeIn(t, splitEverything(t), Blue)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := atState(t, files, tc.state)
			for _, service := range []string{"web", "metrics"} {
				u, err := object.Decode(got["shared/service-"+service+".yaml"])
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, object.TextAt(object.MapAt(u.Object, "spec", "selector"), LabelTrack)); diff != "" {
					t.Errorf("\n%s\nService %s: -want, +got:\n%s", tc.reason, service, diff)
				}
			}
		})
	}
}

func TestAtAlone(t *testing.T) {
	p := splitEverything(t)
	leaving := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    intentplane.dev/leaves: \"true\"\n  name: old\n  namespace: shop\n"
	tracks := withBoth(t, p)
	tracks["shared/configmap-old.yaml"] = []byte(leaving)
	canary := atState(t, tracks, State{Serving: Blue, Weight: 20, Ahead: 50})
	if diff := cmp.Diff(leaving, string(canary["shared/configmap-old.yaml"])); diff != "" {
		t.Errorf("An object that leaves stays while the old track is there: -want, +got:\n%s", diff)
	}
	if !strings.Contains(string(canary["shared/kustomization.yaml"]), "configmap-old.yaml") {
		t.Errorf("The kustomization does not list an object that stays:\n%s", canary["shared/kustomization.yaml"])
	}
	if diff := cmp.Diff(texts(placeIn(t, p, Green)), texts(atState(t, canary, State{Serving: Green, Alone: true}))); diff != "" {
		t.Errorf("The other track and the leaving objects are gone at the end: -want, +got:\n%s", diff)
	}
}

func TestAtWithoutKustomizations(t *testing.T) {
	files, err := splitEverything(t).Files(Green, Layout{})
	if err != nil {
		t.Fatal(err)
	}
	for name := range atState(t, files, State{Serving: Blue, Ahead: 5}) {
		if IsKustomization(name) {
			t.Errorf("%s is in a directory without kustomizations", name)
		}
	}
}

func TestAtRefuses(t *testing.T) {
	p, err := Split(web(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	files := placeIn(t, p, Blue)
	changed := maps.Clone(files)
	changed["shared/httproute-web.yaml"] = []byte(strings.Replace(string(files["shared/httproute-web.yaml"]), "weight: 100", "weight: 99", 1))
	inBoth := atState(t, files, State{Serving: Blue, Weight: 20, Ahead: 20})
	inBoth["shared/httproute-web.yaml"] = []byte(strings.Replace(string(inBoth["shared/httproute-web.yaml"]), "port: 80", "port: 8080", 1))
	resized := maps.Clone(files)
	resized["blue/deployment-web-blue.yaml"] = []byte(strings.Replace(string(files["blue/deployment-web-blue.yaml"]), `replicas: "5"`, `replicas: many`, 1))
	cases := map[string]struct {
		reason string
		files  tree.Files
		state  State
		want   string
	}{
		"NoTrack": {reason: "A state needs the track that serves.", files: files, want: `"" is not a track`},
		"SizeBehind": {
			reason: "Pods come before the requests.",
			files:  files, state: State{Serving: Blue, Weight: 20, Ahead: 5}, want: "weight 20 and the size for 5 must rise from 0 to 100",
		},
		"TooMuch": {
			reason: "A weight is a percentage.",
			files:  files, state: State{Serving: Blue, Weight: 101, Ahead: 101}, want: "weight 101 and the size for 101 must rise from 0 to 100",
		},
		"AloneShares": {
			reason: "A track that is alone gets all requests.",
			files:  files, state: State{Serving: Blue, Weight: 5, Ahead: 5, Alone: true}, want: "a track that is alone leaves no weight: got 5 and 5",
		},
		"ForeignWeight": {
			reason: "Weights that were changed in Git have no weight of an author.", files: changed, state: State{Serving: Blue},
			want: "shared/httproute-web.yaml: spec.rules[0]: weights of web add up to 99, which is not a multiple of 100: they were changed",
		},
		"ForeignPort": {
			reason: "Entries that differ by more than their tracks do not share a weight.", files: inBoth, state: State{Serving: Blue},
			want: "shared/httproute-web.yaml: spec.rules[0]: weights of web add up to 80, which is not a multiple of 100: they were changed",
		},
		"ForeignSize": {
			reason: "A size that was changed in Git cannot be divided.", files: resized, state: State{Serving: Blue},
			want: `blue/deployment-web-blue.yaml: annotation intentplane.dev/replicas: "many" is not a number of pods`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := At(tc.files, tc.state)
			if diff := cmp.Diff(tc.want, message(err)); diff != "" {
				t.Errorf("\n%s\nAt(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzAt moves random workloads through random states. It checks the invariants of each state: the tracks share the weights of the author, nothing but weights,
// sizes, fronts and lists changes, and the result does not depend on earlier states.
func FuzzAt(f *testing.F) {
	for seed := range int64(20) {
		f.Add(seed, uint8(seed*13), uint8(seed*29), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed int64, weight, ahead uint8, green bool) {
		r := rand.New(rand.NewSource(seed))
		p, err := Split(randomWorkload(r), nil)
		if err != nil {
			t.Fatalf("Split(...): %v", err)
		}
		s := State{Serving: map[bool]string{true: Green, false: Blue}[green], Weight: int(weight % 101)}
		s.Ahead = s.Weight + int(ahead)%(101-s.Weight)
		files := withBoth(t, p)
		placedOnce := atState(t, files, s)
		if diff := cmp.Diff(texts(placedOnce), texts(atState(t, placedOnce, s))); diff != "" {
			t.Errorf("At twice is not At once: -once, +twice:\n%s", diff)
		}
		intermediate := State{Serving: Other(s.Serving), Weight: int(ahead) % 101, Ahead: 100}
		if diff := cmp.Diff(texts(placedOnce), texts(atState(t, atState(t, files, intermediate), s))); diff != "" {
			t.Errorf("At depends on the state before: -want, +got:\n%s", diff)
		}
		for _, track := range []string{Blue, Green} {
			if diff := cmp.Diff(texts(placeIn(t, p, track)), texts(atState(t, placedOnce, State{Serving: track, Alone: true}))); diff != "" {
				t.Errorf("%s alone differs from the rendered files: -want, +got:\n%s", track, diff)
			}
		}
		checkOtherBytes(t, files, placedOnce)
		checkShares(t, p, placedOnce, s)
	})
}

// checkOtherBytes compares all lines except weights, sizes and fronts. The entries of routes are compared by checkShares.
func checkOtherBytes(t *testing.T, previous, next tree.Files) {
	t.Helper()
	may := regexp.MustCompile(`(?m)^ +(replicas|minReplicas): \d+$|^    intentplane\.dev/track: (blue|green)$`)
	for name := range next {
		if IsKustomization(name) || strings.Contains(name, "route-") {
			continue
		}
		if diff := cmp.Diff(may.ReplaceAllString(string(previous[name]), ""), may.ReplaceAllString(string(next[name]), "")); diff != "" {
			t.Errorf("%s: -before, +after:\n%s", name, diff)
		}
	}
}

// checkShares adds the weights of both tracks, entry by entry, and compares the sums with the rendered weights.
func checkShares(t *testing.T, p *Parts, files tree.Files, s State) {
	t.Helper()
	for _, m := range p.members {
		if !m.routed {
			continue
		}
		u, err := object.Decode(files["shared/"+m.file])
		if err != nil {
			t.Fatal(err)
		}
		for i, rule := range rulesOfRoute(m.Unstructured) {
			got, want := rawRefs(rulesOfRoute(u)[i]), wantedRefs(rule, s)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: spec.rules[%d]: -want, +got:\n%s", m.file, i, diff)
			}
		}
	}
}

// wantedRefs computes the wanted entries from the author's rule.
func wantedRefs(rule map[string]any, s State) []string {
	refs := backendRefs(rule)
	isWeb := func(ref map[string]any) bool {
		return ref["kind"] == nil && ref["name"] == "web" && ref["namespace"] != "elsewhere"
	}
	touched := false
	for _, ref := range refs {
		touched = touched || isWeb(ref)
	}
	out := []string{}
	for _, ref := range refs {
		weight, _ := weightOfBackend(ref)
		if !touched {
			out = append(out, describeRef(ref, object.TextAt(ref, "name"), ref["weight"]))
			continue
		}
		if !isWeb(ref) {
			out = append(out, describeRef(ref, object.TextAt(ref, "name"), weight*100))
			continue
		}
		out = append(out,
			describeRef(ref, "web-"+s.Serving, weight*int64(100-s.Weight)),
			describeRef(ref, "web-"+Other(s.Serving), weight*int64(s.Weight)))
	}
	return out
}

func rawRefs(rule map[string]any) []string {
	out := []string{}
	for _, ref := range backendRefs(rule) {
		out = append(out, describeRef(ref, object.TextAt(ref, "name"), ref["weight"]))
	}
	return out
}

func describeRef(ref map[string]any, name string, weight any) string {
	return fmt.Sprintf("%s %v kind=%v port=%v filters=%v", name, weight, ref["kind"], ref["port"], ref["filters"])
}

// randomWorkload returns a workload with several routes, rules and entries.
func randomWorkload(r *rand.Rand) tree.Files {
	added := map[string]string{
		"deployment-web.yaml": strings.Replace(webDeployment, "replicas: 5", fmt.Sprintf("replicas: %d", r.Intn(30)), 1),
		"hpa.yaml": manifest(
			"autoscaling/v2", "HorizontalPodAutoscaler", "web",
			fmt.Sprintf("spec:\n  minReplicas: %d\n  scaleTargetRef:\n    kind: Deployment\n    name: web\n", r.Intn(9)),
		),
		"pdb.yaml": manifest("policy/v1", "PodDisruptionBudget", "web", "spec:\n  selector:\n    matchLabels:\n      app: web\n"),
		"text.yaml": "apiVersion: v1\ndata:\n  a: \"intentplane.dev/track 1e3\"\n  b: |\n    two\n\n    lines\nkind: ConfigMap\nmetadata:\n  " +
			"name: text\n  namespace: shop\n",
	}
	for i := range 1 + r.Intn(3) {
		kind := []string{"HTTPRoute", "GRPCRoute"}[r.Intn(2)]
		added[fmt.Sprintf("route-%d.yaml", i)] = manifest(GatewayGroup+"/v1", kind, fmt.Sprintf("r%d", i), "spec:\n  rules:\n"+randomRules(r))
	}
	return web(added)
}

func randomRules(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.Intn(4) {
		b.WriteString("  - backendRefs:\n")
		for range 1 + r.Intn(MaxBackendRefs) {
			b.WriteString([]string{
				"    - name: web\n", "    - name: web\n", "    - name: web\n      namespace: shop\n", "    - name: other\n",
				"    - name: web\n      namespace: elsewhere\n", "    - kind: Bucket\n      name: web\n",
			}[r.Intn(6)])
			if r.Intn(2) == 0 {
				fmt.Fprintf(&b, "      port: %d\n", 80+r.Intn(2))
			}
			if r.Intn(2) == 0 {
				fmt.Fprintf(&b, "      weight: %d\n", []int{0, 1, 3, 7, 99, MaxWeight}[r.Intn(6)])
			}
			if r.Intn(4) == 0 {
				b.WriteString("      filters:\n      - requestMirror:\n          backendRef:\n            name: web\n        type: RequestMirror\n")
			}
		}
	}
	return b.String()
}
