package track

import (
	_ "embed"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// The files of the smallest workload that can have two tracks.
var (
	//go:embed testdata/web/deployment-web.yaml
	webDeployment string

	//go:embed testdata/web/service-web.yaml
	webService string

	//go:embed testdata/web/httproute-web.yaml
	webRoute string
)

// web is the smallest workload that can have two tracks, with files in place of its own or beside them.
func web(added map[string]string) tree.Files {
	texts := map[string]string{"deployment-web.yaml": webDeployment, "service-web.yaml": webService, "httproute-web.yaml": webRoute}
	maps.Copy(texts, added)
	out := tree.Files{}
	for name, text := range texts {
		out[name] = []byte(text)
	}
	return out
}

func manifest(apiVersion, kind, name, rest string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: shop\n%s", apiVersion, kind, name, rest)
}

func TestSplitClosure(t *testing.T) {
	cases := map[string]struct {
		reason string
		more   map[string]string
		want   []string
	}{
		"Smallest": {reason: "A Deployment and the Service of its route are per track.", want: []string{"Deployment shop/web", "Service shop/web"}},
		"NamedByCustom": {
			reason: "A ConfigMap of the pods stays shared too when a kind that is not known here names it.",
			more: map[string]string{
				"deployment-web.yaml": webDeployment + "    spec:\n      volumes:\n      - configMap:\n          name: tuning\n",
				"a.yaml":              manifest("v1", "ConfigMap", "tuning", ""),
				"b.yaml":              manifest("example.org/v1", "Tuner", "t", "spec:\n  source: tuning\n"),
			},
			want: []string{"ConfigMap shop/tuning", "ConfigMap shop/tuning (shared)", "Deployment shop/web", "Service shop/web"},
		},
		"OtherNamespace": {
			reason: "A ConfigMap of another namespace is not the ConfigMap that the pods name.",
			more: map[string]string{
				"deployment-web.yaml": webDeployment + "    spec:\n      volumes:\n      - configMap:\n          name: tuning\n",
				"a.yaml":              strings.Replace(manifest("v1", "ConfigMap", "tuning", ""), "shop", "bar", 1),
			},
			want: []string{"Deployment shop/web", "Service shop/web"},
		},
		"MarkedCronJob": {
			reason: "A CronJob is marked for its resources, and is shared.",
			more: map[string]string{
				"a.yaml": strings.Replace(
					manifest("batch/v1", "CronJob", "report", ""), "  name", "  labels: {intentplane.dev/workload: main}\n  name", 1,
				),
			},
			want: []string{"Deployment shop/web", "Service shop/web"},
		},
		"OtherScaler": {
			reason: "An autoscaler of another Deployment is shared.",
			more: map[string]string{
				"a.yaml": manifest("autoscaling/v2", "HorizontalPodAutoscaler", "h", "spec:\n  scaleTargetRef: {kind: Deployment, name: other}\n"),
			},
			want: []string{"Deployment shop/web", "Service shop/web"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Split(web(tc.more), nil)
			if err != nil {
				t.Fatalf("\n%s\nSplit(...): %v", tc.reason, err)
			}
			got := []string{}
			for _, m := range p.members {
				if m.perTrack {
					got = append(got, object.Of(m.Unstructured).String())
				}
				if m.perTrack && m.shared && !m.front {
					got = append(got, object.Of(m.Unstructured).String()+" (shared)")
				}
			}
			want := map[string]bool{}
			for _, o := range tc.want {
				want[o] = true
			}
			found := map[string]bool{}
			for _, o := range got {
				found[o] = true
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Errorf("\n%s\nper track: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSplitRefuses(t *testing.T) {
	route := func(refs string) map[string]string {
		return map[string]string{"httproute-web.yaml": strings.Split(webRoute, "    - name")[0] + refs}
	}
	marked := func(kind string) map[string]string {
		return map[string]string{"a.yaml": strings.Replace(manifest("apps/v1", kind, "m", ""), "  name", "  labels: {intentplane.dev/workload: main}\n  name", 1)}
	}
	cases := map[string]struct {
		reason   string
		more     map[string]string
		selector Selector
		want     string
	}{
		"NoRoute": {
			reason: "Without a route nothing divides the requests.",
			more:   map[string]string{"httproute-web.yaml": manifest("v1", "ConfigMap", "c", "")},
			want:   "spec.canary: no HTTPRoute or GRPCRoute sends requests to a Service that selects pods of Deployment shop/web",
		},
		"NotMarked": {
			reason: "The mark identifies the workload.",
			more:   map[string]string{"deployment-web.yaml": strings.Replace(webDeployment, "main", "side", 1)},
			want:   "spec.canary: no Deployment has the label intentplane.dev/workload: main",
		},
		"StatefulSet": {
			reason: "The volumes of a StatefulSet cannot be in two tracks.",
			more:   marked("StatefulSet"), want: "StatefulSet shop/m: cannot have two tracks: a canary needs a Deployment",
		},
		"DaemonSet": {
			reason: "Each node runs one pod of a DaemonSet.",
			more:   marked("DaemonSet"), want: "DaemonSet shop/m: cannot have two tracks: a canary needs a Deployment",
		},
		"Job": {
			reason: "A Job runs once and gets no requests.",
			more:   marked("Job"), want: "Job shop/m: cannot have two tracks: a canary needs a Deployment",
		},
		"OtherNamespace": {
			reason: "A route in another namespace would need a grant for each copy.",
			more: map[string]string{"httproute-web.yaml": strings.Replace(strings.Replace(webRoute, "namespace: shop", "namespace: edge", 1),
				"name: web\n      port", "name: web\n      namespace: shop\n      port", 1)},
			want: "HTTPRoute edge/web: spec.rules[0].backendRefs[0]: Service shop/web is in another namespace: a canary needs the route beside it",
		},
		"TooManyRefs": {
			reason: "Gateway API takes sixteen backendRefs in a rule, and a canary doubles them.",
			more:   route("    - name: web\n" + strings.Repeat("    - name: other\n", 8)),
			want:   "HTTPRoute shop/web: spec.rules[0].backendRefs: there are 9, and a canary allows 8 in a rule that sends requests to its workload",
		},
		"HeavyWeight": {
			reason: "Gateway API takes weights up to a million.",
			more:   route("    - name: other\n      weight: 10001\n    - name: web\n"),
			want:   "HTTPRoute shop/web: spec.rules[0].backendRefs[0].weight: 10001 must be a whole number from 0 to 10000, since a canary multiplies it by 100",
		},
		"TextWeight": {
			reason: "A weight that is not a number cannot be divided.",
			more:   route("    - name: web\n      weight: heavy\n"),
			want:   "HTTPRoute shop/web: spec.rules[0].backendRefs[0].weight: heavy must be a whole number from 0 to 10000, since a canary multiplies it by 100",
		},
		"LongName": {
			reason: "The copy of a Service has to be a valid Service.",
			more: map[string]string{
				"service-web.yaml":   strings.Replace(webService, "name: web", "name: "+strings.Repeat("w", 58), 1),
				"httproute-web.yaml": strings.Replace(webRoute, "- name: web", "- name: "+strings.Repeat("w", 58), 1),
			},
			want: "Service shop/" + strings.Repeat("w", 58) + ": the name has 64 characters with the suffix of track green, more than 63",
		},
		"NameTaken": {
			reason: "Two objects cannot have one name.",
			more:   map[string]string{"a.yaml": manifest("v1", "Service", "web-green", "")},
			want:   "Service shop/web-green: has the name that Service shop/web gets in track green: choose another one",
		},
		"RefNamesTrack": {
			reason: "A backendRef of an author must not look like a backendRef of the canary.",
			more:   route("    - name: web\n    - name: web-blue\n"),
			want:   "HTTPRoute shop/web: spec.rules[0].backendRefs[1]: web-blue is the copy of Service web in track blue: name web",
		},
		"SelectsOthers": {
			reason: "The pods of a workload without tracks would lose their callers.",
			more:   map[string]string{"a.yaml": manifest("apps/v1", "Deployment", "side", "spec:\n  template:\n    metadata:\n      labels: {app: web, side: car}\n")},
			want:   "Service shop/web: selects pods of Deployment shop/side too, which has no tracks",
		},
		"OwnLabel": {
			reason: "A label of an author would be overwritten.",
			more:   map[string]string{"a.yaml": manifest("v1", "Service", "s", "spec:\n  selector: {intentplane.dev/track: blue}\n")},
			want:   "Service shop/s: sets intentplane.dev/track, which is reserved: leave it out",
		},
		"ListedMissing": {
			reason:   "A name that is spelled wrong is found.",
			selector: Selector{Group: "keda.sh", Kind: "ScaledObject", Name: "wbe"},
			want:     "spec.canary.perTrack[0]: no ScaledObject wbe is rendered",
		},
		"ListedRoute": {
			reason:   "A route divides the requests between both tracks.",
			selector: Selector{Group: GatewayGroup, Kind: "HTTPRoute"},
			want:     "spec.canary.perTrack[0]: HTTPRoute shop/web: a route is shared: its weights divide the requests between the tracks",
		},
		"ListedScaler": {
			reason: "Two autoscalers of one Deployment work against each other.",
			more: map[string]string{
				"a.yaml": manifest("autoscaling/v2", "HorizontalPodAutoscaler", "h", "spec:\n  scaleTargetRef: {kind: Deployment, name: other}\n"),
			},
			selector: Selector{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"},
			want:     "HorizontalPodAutoscaler shop/h: scales nothing that has tracks: leave it out of spec.canary.perTrack, since two would scale the same pods",
		},
		"ScaledToNothing": {
			reason: "KEDA leaves no pods where nothing says how many it keeps, and a canary has no requests at first.",
			more:   map[string]string{"a.yaml": manifest("keda.sh/v1alpha1", "ScaledObject", "s", "spec:\n  scaleTargetRef: {name: web}\n")},
			want:   "ScaledObject shop/s: spec.minReplicaCount: must be 1 or more in a canary: a track has pods before it gets requests",
		},
		"Idle": {
			reason: "KEDA leaves as many pods as it is to have while it is idle.",
			more: map[string]string{
				"a.yaml": manifest(
					"keda.sh/v1alpha1", "ScaledObject", "s", "spec:\n  minReplicaCount: 2\n  idleReplicaCount: 0\n  scaleTargetRef: {name: web}\n",
				),
			},
			want: "ScaledObject shop/s: spec.idleReplicaCount: leave it out in a canary: a track has pods before it gets requests",
		},
		"ListedService": {
			reason:   "A Service that routes name is copied, and stays as the front.",
			selector: Selector{Kind: "Service", Name: "web"},
			want: "HTTPRoute shop/web: spec.rules[0].backendRefs[0]: Service shop/web is in spec.canary.perTrack: leave it out there, since each " +
				"track gets a copy of it anyway",
		},
		"NotAnObject": {
			reason: "A file without an object cannot be in a track.",
			more:   map[string]string{"a.yaml": "a: b\n"},
			want:   "a.yaml: is not an object with kind and metadata.name",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			selectors := []Selector{}
			if tc.selector != (Selector{}) {
				selectors = append(selectors, tc.selector)
			}
			_, err := Split(web(tc.more), selectors)
			if diff := cmp.Diff(tc.want, message(err)); diff != "" {
				t.Errorf("\n%s\nSplit(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
