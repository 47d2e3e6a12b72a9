package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

const (
	needBlueprint = "blueprints/blueprint=web,channel=stable"
	needListed    = "blueprints/catalog.intentplane.dev/listed=true"
	needConfig    = "config/ClusterProviderConfig//default"
	needConfigs   = "configs/ClusterProviderConfig/"

	// Needs for the Sites that several namespaces may use, and for the Sites of team-a alone.
	needShared = "sites/catalog.intentplane.dev/usable-from=Several"
	needOwn    = "sites/catalog.intentplane.dev/usable-from=team-a"

	// The same, of those with the labels of the function labels.
	needSharedAB = "sites/a=1,b=2,catalog.intentplane.dev/usable-from=Several"
	needOwnAB    = "sites/a=1,b=2,catalog.intentplane.dev/usable-from=team-a"
)

func encoded(objects ...any) []json.RawMessage {
	out := []json.RawMessage{}
	for _, o := range objects {
		b, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		out = append(out, b)
	}
	return out
}

func site(name string, change ...func(*catalogv1alpha1.Site)) catalogv1alpha1.Site {
	s := catalogv1alpha1.Site{}
	s.SetName(name)
	s.Spec.AllowedNamespaces = []string{"team-a"}
	s.Spec.Repository.Path = "clusters/" + name
	for _, c := range change {
		c(&s)
	}
	return s
}

func foreign(s *catalogv1alpha1.Site) { s.Spec.AllowedNamespaces = []string{"team-b"} }

func own(config string) func(*catalogv1alpha1.Site) {
	return func(s *catalogv1alpha1.Site) {
		s.Spec.Repository.ProviderConfigRef = &catalogv1alpha1.ClusterConfigReference{Name: config}
	}
}

func blueprintOf(name string, types ...string) catalogv1alpha1.Blueprint {
	b := catalogv1alpha1.Blueprint{}
	b.SetName(name)
	b.Spec.ServiceTypes = types
	return b
}

func configOf(url string) configv1alpha1.ClusterProviderConfig {
	c := configv1alpha1.ClusterProviderConfig{}
	c.Spec.Git.URL, c.Spec.Git.Branch, c.Spec.Git.PathPrefix = url, "main", "fleet"
	return c
}

// answers are those to a simple query, with others in their place.
func answers(change Answers) Answers {
	out := Answers{
		"site/edge1":  encoded(site("edge1")),
		"site/edge2":  encoded(site("edge2")),
		needBlueprint: encoded(blueprintOf("web-1.0.0", "web")),
		needConfig:    encoded(configOf("https://git.example.org/fleet.git")),
	}
	maps.Copy(out, change)
	return out
}

func query(change func(*Query)) Query {
	q := Query{Namespace: "team-a", Name: "shop", ServiceType: "web", IntentSites: []string{"edge1"}, IntentField: "spec.intent"}
	s := deploymentv1alpha1.IntentDeploymentSpec{}
	s.Default()
	q.Blueprint, q.Delivery = s.Blueprint, s.DeliveryConfig
	if change != nil {
		change(&q)
	}
	return q
}

func intentSites(names ...string) func(*Query) { return func(q *Query) { q.IntentSites = names } }

func targetSite(name string) func(*Query) {
	return func(q *Query) { q.IntentSites, q.Delivery.TargetSite = nil, deploymentv1alpha1.SiteName(name) }
}

func labels(q *Query) {
	q.IntentSites = nil
	q.Delivery.SiteSelector = &deploymentv1alpha1.SiteSelector{MatchLabels: map[string]deploymentv1alpha1.LabelValue{"b": "2", "a": "1"}}
}

func TestNeeds(t *testing.T) {
	cases := map[string]struct {
		reason string
		query  Query
		// Names of the needs of the first call, sorted.
		want []string
	}{
		"ByName": {reason: "A Site by its name, in the intent.", query: query(nil), want: []string{needBlueprint, needConfig, "site/edge1"}},
		"Several": {
			reason: "Several named Sites are each required once.",
			query:  query(intentSites("edge2", "edge1", "edge2")), want: []string{needBlueprint, needConfig, "site/edge1", "site/edge2"},
		},
		"TargetSite": {reason: "A Site by its name, in deliveryConfig.", query: query(targetSite("edge1")), want: []string{needBlueprint, needConfig, "site/edge1"}},
		"ByLabels": {
			reason: "The labels are in the name of the need, sorted.",
			query:  query(labels), want: []string{needBlueprint, needConfig, needSharedAB, needOwnAB},
		},
		"IntentLabels": {
			reason: "The intent may select Sites too.", query: query(func(q *Query) { q.IntentSites, q.IntentLabels = nil, map[string]string{"b": "2", "a": "1"} }),
			want: []string{needBlueprint, needConfig, needSharedAB, needOwnAB},
		},
		"LabelsAgree": {
			reason: "Labels of the claim and of the intent both select Sites.",
			query:  query(func(q *Query) { labels(q); q.IntentLabels = map[string]string{"b": "2", "a": "1"} }),
			want:   []string{needBlueprint, needConfig, needSharedAB, needOwnAB},
		},
		"All":  {reason: "The word all requires all Sites.", query: query(targetSite("all")), want: []string{needBlueprint, needConfig, needShared, needOwn}},
		"Both": {reason: "Both Sites are two of all.", query: query(targetSite("both")), want: []string{needBlueprint, needConfig, needShared, needOwn}},
		"IntentBoth": {
			reason: "The word both in an intent requires all Sites.",
			query:  query(intentSites("both")), want: []string{needBlueprint, needConfig, needShared, needOwn},
		},
		"Version": {
			reason: "A Blueprint may be asked for by name and version.", query: query(func(q *Query) { q.Blueprint.Name, q.Blueprint.Version = "shop", "1.2.0" }),
			want: []string{"blueprint/shop-1.2.0", needConfig, "site/edge1"},
		},
		"Namespaced": {
			reason: "A ProviderConfig is in the deployment's namespace.",
			query:  query(func(q *Query) { q.Delivery.GitOpsRepo.Kind = policy.KindProviderConfig }),
			want:   []string{needBlueprint, "config/ProviderConfig/team-a/default", "site/edge1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, needs, err := Resolve(tc.query, Answers{})
			if err != nil || s != nil {
				t.Fatalf("Resolve(...): want neither a Selection nor an error, got %v, %v", s, err)
			}
			got := []string{}
			for _, n := range needs {
				got = append(got, n.Name)
				if (n.Kind == policy.KindProviderConfig) != (n.Namespace == "team-a") {
					t.Errorf("\n%s\nResolve(...): %s has namespace %q", tc.reason, n.Name, n.Namespace)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	type want struct {
		// Places as Site, configuration and path.
		places []string
		// Reason of a MissingError, or Invalid.
		code string
		// Parts of the message.
		message []string
	}
	const place = " default fleet/clusters/"
	all := func(sites ...any) Answers { return answers(Answers{needShared: encoded(sites...), needOwn: encoded()}) }
	cases := map[string]struct {
		reason  string
		query   Query
		answers Answers
		want    want
	}{
		"ByName": {
			reason: "The Site that the intent names.",
			query:  query(nil), answers: answers(nil), want: want{places: []string{"edge1" + place + "edge1/team-a/shop"}},
		},
		"Several": {
			reason: "Several Sites are sorted, and each one comes once.",
			query:  query(intentSites("edge2", "edge1", "edge1")), answers: answers(nil),
			want: want{places: []string{"edge1" + place + "edge1/team-a/shop", "edge2" + place + "edge2/team-a/shop"}},
		},
		"All": {
			reason: "All that the namespace may use.",
			query:  query(targetSite("all")), answers: all(site("b"), site("x", foreign), site("a")),
			want: want{places: []string{"a" + place + "a/team-a/shop", "b" + place + "b/team-a/shop"}},
		},
		"Both": {
			reason: "The two that the namespace may use.",
			query:  query(targetSite("both")), answers: all(site("b"), site("x", foreign), site("a")),
			want: want{places: []string{"a" + place + "a/team-a/shop", "b" + place + "b/team-a/shop"}},
		},
		"OwnAndShared": {
			reason: "Sites of the namespace alone and Sites of several are chosen together, each once.", query: query(targetSite("all")),
			answers: answers(Answers{needShared: encoded(site("b"), site("a")), needOwn: encoded(site("a"), site("c"))}),
			want:    want{places: []string{"a" + place + "a/team-a/shop", "b" + place + "b/team-a/shop", "c" + place + "c/team-a/shop"}},
		},
		"Unlabelled": {
			reason: "A Site that was delivered to and lost the label of the provider keeps its deployment, unless it is gone or may not be used any more.",
			query:  query(func(q *Query) { targetSite("all")(q); q.DeliveredSites = []string{"b", "gone", "x"} }),
			answers: answers(Answers{
				needShared: encoded(site("a")), needOwn: encoded(), "site/b": encoded(site("b")), "site/gone": encoded(), "site/x": encoded(site("x", foreign)),
			}),
			want: want{places: []string{"a" + place + "a/team-a/shop", "b" + place + "b/team-a/shop"}},
		},
		"UnlabelledOther": {
			reason: "A Site that was delivered to and lost a label of the selector is left.",
			query:  query(func(q *Query) { labels(q); q.DeliveredSites = []string{"b", "c"} }),
			answers: answers(Answers{
				needSharedAB: encoded(site("a")), needOwnAB: encoded(),
				"site/b": encoded(site("b", func(s *catalogv1alpha1.Site) { s.SetLabels(map[string]string{"a": "1", "b": "3"}) })),
				"site/c": encoded(site("c", func(s *catalogv1alpha1.Site) { s.SetLabels(map[string]string{"a": "1", "b": "2"}) })),
			}),
			want: want{places: []string{"a" + place + "a/team-a/shop", "c" + place + "c/team-a/shop"}},
		},
		"BothOfThree": {
			reason: "Both is refused where the namespace may use three Sites.", query: query(targetSite("both")), answers: all(site("b"), site("c"), site("a")),
			want: want{code: deploymentv1alpha1.ReasonSiteMissing, message: []string{`"both"`, "3"}},
		},
		"BothOfOne": {
			reason: "One Site is not both, and forbidden Sites are not counted.", query: query(targetSite("both")), answers: all(site("b"), site("x", foreign)),
			want: want{code: deploymentv1alpha1.ReasonSiteMissing, message: []string{"1"}},
		},
		"ByLabels": {
			reason: "A selector chooses the Sites that have its labels.",
			query:  query(labels), answers: answers(Answers{needSharedAB: encoded(), needOwnAB: encoded(site("a"))}),
			want: want{places: []string{"a" + place + "a/team-a/shop"}},
		},
		"NoneByLabels": {
			reason: "A selector that no Site matches is missing its Sites.",
			query:  query(labels), answers: answers(Answers{needSharedAB: encoded(), needOwnAB: encoded()}),
			want: want{code: deploymentv1alpha1.ReasonNoSite},
		},
		"NoneAllowed": {
			reason: "A deployment of all Sites has none where none may be used.", query: query(targetSite("all")), answers: all(site("x", foreign)),
			want: want{code: deploymentv1alpha1.ReasonNoSite},
		},
		"NoSite": {
			reason: "A deployment without any Site gets the reason NoSite.",
			query:  query(intentSites()), answers: answers(nil),
			want: want{code: deploymentv1alpha1.ReasonNoSite, message: []string{"deliveryConfig.targetSite"}},
		},
		"SiteMissing": {
			reason:  "All that are missing are named.",
			query:   query(intentSites("edge1", "z", "y")),
			answers: answers(Answers{"site/y": encoded(), "site/z": encoded(), needShared: encoded(), needOwn: encoded()}),
			want:    want{code: deploymentv1alpha1.ReasonSiteMissing, message: []string{`"y", "z"`}},
		},
		"Agreement": {
			reason: "The claim and the intent may both name the same Site.", query: query(func(q *Query) { q.Delivery.TargetSite = "edge1" }), answers: answers(nil),
			want: want{places: []string{"edge1" + place + "edge1/team-a/shop"}},
		},
		"Conflict": {
			reason: "Both and different is an error that names both fields.", query: query(func(q *Query) { q.Delivery.TargetSite = "edge2" }), answers: answers(nil),
			want: want{code: "Invalid", message: []string{"spec.deliveryConfig.targetSite", "spec.intent"}},
		},
		"ConflictWithLabels": {
			reason: "Labels are never the same as names.", query: query(func(q *Query) { labels(q); q.IntentSites = []string{"edge1"} }), answers: answers(nil),
			want: want{code: "Invalid", message: []string{"spec.deliveryConfig.siteSelector", "spec.intent"}},
		},
		"ConflictOfLabels": {
			reason: "Labels of the intent that differ select other Sites.",
			query:  query(func(q *Query) { labels(q); q.IntentLabels = map[string]string{"a": "1"} }), answers: answers(nil),
			want: want{code: "Invalid", message: []string{"spec.deliveryConfig.siteSelector", "selector of spec.intent"}},
		},
		"LabelsBesideTarget": {
			reason: "A name is not a selection.", query: query(func(q *Query) {
				q.IntentSites, q.IntentLabels, q.Delivery.TargetSite = nil, map[string]string{"a": "1"}, "edge1"
			}), answers: answers(nil),
			want: want{code: "Invalid", message: []string{"spec.deliveryConfig.targetSite", "selector of spec.intent"}},
		},
		"WordBesideName": {
			reason: "A word for several Sites is refused beside another name.",
			query:  query(intentSites("all", "edge1")), answers: answers(nil), want: want{code: "Invalid", message: []string{"spec.intent"}},
		},
		"BlueprintMissing": {
			reason: "A Blueprint that does not exist is missing.", query: query(nil), answers: answers(Answers{needBlueprint: encoded(), needListed: encoded()}),
			want: want{code: deploymentv1alpha1.ReasonBlueprintMissing, message: []string{"web", "stable"}},
		},
		"BlueprintAmbiguous": {
			reason: "Two Blueprints in one channel are ambiguous.",
			query:  query(nil), answers: answers(Answers{needBlueprint: encoded(blueprintOf("web-2", "web"), blueprintOf("web-1", "web"))}),
			want: want{code: deploymentv1alpha1.ReasonBlueprintAmbiguous, message: []string{"web-1 and web-2"}},
		},
		"OtherType": {
			reason: "A Blueprint that does not serve the type.", query: query(nil), answers: answers(Answers{needBlueprint: encoded(blueprintOf("web-1", "upf"))}),
			want: want{code: "Invalid", message: []string{"spec.intent", "web-1", `"web"`}},
		},
		"InvalidBeforeMissing": {
			reason: "An error that lasts is reported before a missing object.", query: query(nil),
			answers: answers(Answers{"site/edge1": encoded(), needShared: encoded(), needOwn: encoded(), needBlueprint: encoded(blueprintOf("web-1", "upf"))}),
			want:    want{code: "Invalid"},
		},
		"ConfigMissing": {
			reason: "A configuration that does not exist is missing.", query: query(nil), answers: answers(Answers{needConfig: encoded(), needConfigs: encoded()}),
			want: want{code: deploymentv1alpha1.ReasonConfigMissing, message: []string{"ClusterProviderConfig", "default"}},
		},
		"ConfigNotAllowed": {
			reason: "A configuration that the namespace may not use looks like a missing one.", query: query(nil),
			answers: answers(Answers{needConfigs: encoded(), needConfig: encoded(func() any {
				c := configOf("https://git.example.org/fleet.git")
				c.Spec.Policy.AllowedNamespaces = []string{"team-b"}
				return c
			}())}),
			want: want{code: deploymentv1alpha1.ReasonConfigMissing, message: []string{"ClusterProviderConfig", "default"}},
		},
		"OwnRepository": {
			reason: "A Site's own repository comes before the claim's.", query: query(intentSites("edge1", "edge2")),
			answers: answers(
				Answers{
					"site/edge2":                          encoded(site("edge2", own("other"))),
					"config/ClusterProviderConfig//other": encoded(configOf("https://git.example.org/other")),
				},
			),
			want: want{places: []string{"edge1" + place + "edge1/team-a/shop", "edge2 other fleet/clusters/edge2/team-a/shop"}},
		},
		"OneRepositoryTwice": {
			reason: "Two configurations for one repository, in two spellings.", query: query(intentSites("edge1", "edge2")),
			answers: answers(
				Answers{
					"site/edge2":                          encoded(site("edge2", own("other"))),
					"config/ClusterProviderConfig//other": encoded(configOf("https://GIT.example.org:443/fleet/")),
				},
			),
			want: want{code: "Invalid", message: []string{"spec.deliveryConfig.gitOpsRepo", `"default"`, `"other"`}},
		},
		"OneDirectoryTwice": {
			reason: "Two Sites with one directory in one repository are refused.", query: query(intentSites("edge1", "edge2")),
			answers: answers(Answers{"site/edge2": encoded(site("edge2", func(s *catalogv1alpha1.Site) { s.Spec.Repository.Path = "clusters/edge1" }))}),
			want:    want{code: "Invalid", message: []string{`"edge1"`, `"edge2"`, "clusters/edge1"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, _, err := Resolve(tc.query, tc.answers)
			got := ""
			if e := (&MissingError{}); errors.As(err, &e) {
				got = e.Reason
			}
			if e := (&InvalidError{}); errors.As(err, &e) {
				got = "Invalid"
			}
			if diff := cmp.Diff(tc.want.code, got); diff != "" {
				t.Fatalf("\n%s\nResolve(...): -want reason, +got reason (%v):\n%s", tc.reason, err, diff)
			}
			for _, part := range tc.want.message {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("\n%s\nResolve(...): %q does not say %s", tc.reason, err, part)
				}
			}
			if tc.want.places == nil {
				return
			}
			var places []string
			for _, p := range s.Places {
				places = append(places, strings.Join([]string{p.Site.GetName(), p.ConfigRef.Name, p.Path}, " "))
			}
			if diff := cmp.Diff(tc.want.places, places); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSitesOfOtherNamespacesAreNotNamed: a tenant who may not use a Site does not learn whether it exists.
func TestSitesOfOtherNamespacesAreNotNamed(t *testing.T) {
	messageFor := func(a ...any) string {
		_, _, err := Resolve(query(nil), answers(Answers{"site/edge1": encoded(a...), needShared: encoded(append(a, site("edge2"))...), needOwn: encoded()}))
		return err.Error()
	}
	if diff := cmp.Diff(messageFor(), messageFor(site("edge1", foreign))); diff != "" {
		t.Errorf("Resolve(...): a Site that may not be used differs from none: -want, +got:\n%s", diff)
	}
}

// TestStaleAnswers: Crossplane returns the objects that an earlier call requested under a name.
func TestStaleAnswers(t *testing.T) {
	cases := map[string]struct {
		reason  string
		query   Query
		answers Answers
	}{
		"OneForAll": {reason: "One Site was named, and now all are asked for.", query: query(targetSite("all")), answers: answers(nil)},
		"OtherLabels": {
			reason: "Answers to other labels do not answer the query.",
			query:  query(labels),
			answers: answers(
				Answers{needShared: encoded(site("a")), needOwn: encoded(), "sites/a=1,catalog.intentplane.dev/usable-from=team-a": encoded(site("a"))},
			),
		},
		"OtherChannel": {
			reason: "Answers to another channel do not answer the query.",
			query:  query(func(q *Query) { q.Blueprint.Channel = "beta" }), answers: answers(nil),
		},
		"OtherNamespaces": {
			reason: "A configuration of the same name was cluster-scoped.",
			query:  query(func(q *Query) { q.Delivery.GitOpsRepo.Kind = policy.KindProviderConfig }), answers: answers(nil),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, needs, err := Resolve(tc.query, tc.answers)
			if s != nil || err != nil || len(needs) == 0 {
				t.Errorf("\n%s\nResolve(...): want needs alone, got %v, %v, %v", tc.reason, s, needs, err)
			}
		})
	}
}

func TestTooManySites(t *testing.T) {
	var sites []any
	for i := range maxSites + 1 {
		sites = append(sites, site(fmt.Sprintf("s%d", i)))
	}
	_, _, err := Resolve(query(targetSite("all")), answers(Answers{needShared: encoded(sites...), needOwn: encoded()}))
	if e := (&InvalidError{}); !errors.As(err, &e) || !strings.Contains(err.Error(), "501 Sites are more than the 500") {
		t.Errorf("Resolve(...): want an error with the numbers, got %v", err)
	}
}
