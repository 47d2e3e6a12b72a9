package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

func namedConfig(name string, namespaces ...string) configv1alpha1.ClusterProviderConfig {
	c := configOf("https://git.example.org/" + name + ".git")
	c.SetName(name)
	c.Spec.Policy.AllowedNamespaces = namespaces
	return c
}

func missingSite(sites ...any) Answers {
	return answers(Answers{"site/edge9": encoded(), "site/north": encoded(), needShared: encoded(sites...), needOwn: encoded()})
}

// listed answers that the object of a need is missing, and lists Blueprints.
func listed(missing string) Answers {
	var all []any
	for _, b := range []struct{ name, version, channel string }{
		{"web", "1.0.0", "stable"}, {"web", "1.1.0", "next"}, {"web", "2.0.0", ""}, {"batch", "1.0.0", "stable"}, {"core", "1.0.0", "next"},
	} {
		o := blueprintOf(b.name + "-" + b.version)
		o.SetLabels(map[string]string{"blueprint": b.name, "channel": b.channel})
		all = append(all, o)
	}
	return answers(Answers{missing: encoded(), needListed: encoded(all...)})
}

func TestSuggestions(t *testing.T) {
	type want struct {
		message string
		// refused is true for an error that waiting does not end.
		refused bool
	}
	unquoted := func(q *Query) { q.IntentSites, q.UnquotedSites = []string{"edge9"}, []string{"edge9"} }
	const edge9 = `Site "edge9" does not exist or may not be used from namespace "team-a"`
	cases := map[string]struct {
		reason  string
		query   Query
		answers Answers
		want    want
	}{
		"NearSite": {
			reason: "A message suggests the most similar Site and lists the Sites that the namespace may use, without forbidden Sites.",
			query:  query(intentSites("edge9")), answers: missingSite(site("edge1"), site("edge99", foreign), site("west")),
			want: want{message: edge9 + `: did you mean "edge1" instead of "edge9"? The namespace may use the Sites "edge1", "west".`},
		},
		"GivenSite": {
			reason: "A Site that the intent names too was not meant a second time.",
			query:  query(intentSites("edge1", "edge9")), answers: missingSite(site("edge1"), site("edge2")),
			want: want{message: edge9 + `: did you mean "edge2" instead of "edge9"? The namespace may use the Sites "edge1", "edge2".`},
		},
		"NoNearSite": {
			reason: "A name that resembles no other is not taken for a typing error.",
			query:  query(intentSites("edge9")), answers: missingSite(site("west"), site("east")),
			want: want{message: edge9 + `. The namespace may use the Sites "east", "west".`},
		},
		"ManySites": {
			reason: "Of many Sites a message lists the five nearest, in the order of the alphabet.",
			query:  query(intentSites("edge9")), answers: missingSite(site("far-away"), site("edge5"), site("edge4"), site("edge3"), site("edge2"), site("edge1")),
			want: want{
				message: edge9 + `: did you mean "edge1" instead of "edge9"? The namespace may use the Sites "edge1", "edge2", "edge3", "edge4", "edge5" and others.`,
			},
		},
		"SeveralSites": {
			reason: "Each missing Site has a question of its own.",
			query:  query(intentSites("north", "edge9")), answers: missingSite(site("nort"), site("edge1")),
			want: want{message: `Site "edge9", "north" does not exist or may not be used from namespace "team-a": did you mean "edge1" instead of "edge9", "nort" instead of "north"? ` +
				`The namespace may use the Sites "edge1", "nort".`},
		},
		"NoSite": {
			reason: "Where the namespace may use no Site, the message names the field that allows one.",
			query:  query(intentSites("edge9")), answers: missingSite(site("edge1", foreign)),
			want: want{message: edge9 + `. No Site allows this namespace: spec.allowedNamespaces of a Site names the namespaces that may use it.`},
		},
		"UnquotedSite": {
			reason: "An unknown Site that a sentence says without quotes is refused.",
			query:  query(unquoted), answers: missingSite(site("edge1")),
			want: want{refused: true, message: `spec.intent: ` + edge9 + `: did you mean "edge1" instead of "edge9"? The namespace may use the Sites "edge1". ` +
				`To wait for a Site that does not exist yet, put its name in quotes.`},
		},
		"UnquotedAndTarget": {
			reason: "A Site that deliveryConfig names too is waited for.",
			query:  query(func(q *Query) { unquoted(q); q.Delivery.TargetSite = "edge9" }), answers: missingSite(site("west")),
			want: want{message: edge9 + `. The namespace may use the Sites "west".`},
		},
		"Config": {
			reason: "A message lists the configurations that the namespace may use, without the forbidden ones.",
			query:  query(func(q *Query) { q.Delivery.GitOpsRepo.Name = "defalt" }),
			answers: answers(Answers{
				"config/ClusterProviderConfig//defalt": encoded(),
				needConfigs:                            encoded(namedConfig("default"), namedConfig("defalt2", "team-b"), namedConfig("own", "team-a")),
			}),
			want: want{message: `ClusterProviderConfig "defalt" does not exist or may not be used from namespace "team-a": did you mean "default" instead of "defalt"? ` +
				`The namespace may use the ClusterProviderConfigs "default", "own".`},
		},
		"NamespacedConfig": {
			reason:  "A ProviderConfig is looked for in the namespace alone.",
			query:   query(func(q *Query) { q.Delivery.GitOpsRepo.Kind = policy.KindProviderConfig }),
			answers: answers(Answers{"config/ProviderConfig/team-a/default": encoded(), "configs/ProviderConfig/team-a": encoded()}),
			want:    want{message: `ProviderConfig "default" does not exist or may not be used from namespace "team-a". The namespace may use no ProviderConfig.`},
		},
		"ConfigOfSite": {
			reason: "The configuration of a Site is not the user's to choose, so that a message lists no others.",
			query:  query(nil), answers: answers(Answers{"site/edge1": encoded(site("edge1", own("other"))), "config/ClusterProviderConfig//other": encoded()}),
			want: want{message: `ClusterProviderConfig "other" does not exist or may not be used from namespace "team-a"`},
		},
		"NoBlueprint": {
			reason: "A message says how to list the Blueprints where none is small enough to be listed.",
			query:  query(nil), answers: answers(Answers{needBlueprint: encoded(), needListed: encoded()}),
			want: want{message: `Blueprint web in channel "stable" does not exist: "kubectl get blueprints" lists the names, versions, channels and types that exist`},
		},
		"BlueprintName": {
			reason: "A message lists the Blueprints of the channel when none has the name.",
			query:  query(func(q *Query) { q.ServiceType = "wep" }), answers: listed("blueprints/blueprint=wep,channel=stable"),
			want: want{
				message: `Blueprint wep in channel "stable" does not exist: did you mean "web" instead of "wep"? The namespace may use the Blueprints "batch", "web".`,
			},
		},
		"BlueprintChannel": {
			reason: "A message lists the channels of the Blueprint when it is not in the requested channel.",
			query:  query(func(q *Query) { q.Blueprint.Channel = "stabel" }), answers: listed("blueprints/blueprint=web,channel=stabel"),
			want: want{
				message: `Blueprint web in channel "stabel" does not exist: did you mean "stable" instead of "stabel"? The namespace may use the channels of Blueprint "web": "next", "stable".`,
			},
		},
		"BlueprintVersion": {
			reason: "A message lists the versions of the Blueprint when it has not the requested version.",
			query:  query(func(q *Query) { q.Blueprint.Version = "1.0.1" }), answers: listed("blueprint/web-1.0.1"),
			want: want{
				message: `Blueprint web-1.0.1 does not exist: did you mean "1.0.0" instead of "1.0.1"? The namespace may use the versions of Blueprint "web": "1.0.0", "1.1.0", "2.0.0".`,
			},
		},
		"BlueprintVersionName": {
			reason: "A message lists the names of all channels when a version of an unknown name is asked for.",
			query:  query(func(q *Query) { q.Blueprint.Name, q.Blueprint.Version = "batches", "1.0.0" }), answers: listed("blueprint/batches-1.0.0"),
			want: want{
				message: `Blueprint batches-1.0.0 does not exist: did you mean "batch" instead of "batches"? The namespace may use the Blueprints "batch", "core", "web".`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := Resolve(tc.query, tc.answers)
			if err == nil {
				t.Fatalf("\n%s\nResolve(...): want an error", tc.reason)
			}
			invalid := &InvalidError{}
			if diff := cmp.Diff(tc.want, want{message: err.Error(), refused: errors.As(err, &invalid)}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSuggestionNeeds counts the rounds: Crossplane allows five beside the first call.
func TestSuggestionNeeds(t *testing.T) {
	existing := answers(Answers{"site/edge9": encoded(), needShared: encoded(site("edge1")), needOwn: encoded(), needConfig: encoded(), needConfigs: encoded()})
	cases := map[string]struct {
		reason string
		query  Query
		// want are the needs that are added to the needs of the first call.
		want   []string
		rounds int
	}{
		"Found": {
			reason: "Nothing more is asked for while nothing is missing.",
			query:  query(func(q *Query) { q.Delivery.GitOpsRepo.Name = "own" }), rounds: 1,
		},
		"SiteMissing": {
			reason: "All Sites are asked for in the round after a Site was missing.",
			query:  query(intentSites("edge9")), want: []string{needShared, needOwn}, rounds: 2,
		},
		"ConfigMissing": {reason: "All configurations are asked for in the round after one was missing.", query: query(nil), want: []string{needConfigs}, rounds: 2},
	}
	existing["config/ClusterProviderConfig//own"] = encoded(configOf("https://git.example.org/own.git"))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			answered, first, got, rounds := Answers{}, []string{}, []string(nil), 0
			for s, needs, err := Resolve(tc.query, answered); s == nil && err == nil && rounds < 6; s, needs, err = Resolve(tc.query, answered) {
				for _, n := range needs {
					answered[n.Name] = existing[n.Name]
					if rounds == 0 {
						first = append(first, n.Name)
					}
					if !slices.Contains(first, n.Name) {
						got = append(got, n.Name)
					}
				}
				rounds++
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || rounds != tc.rounds {
				t.Errorf("\n%s\nResolve(...): %d rounds, -want, +got:\n%s", tc.reason, rounds, diff)
			}
		})
	}
}

// TestSuggestionsAreBounded misspells many names of Sites.
func TestSuggestionsAreBounded(t *testing.T) {
	usable, missing := []string{}, []string{}
	for n := range 100 {
		usable, missing = append(usable, fmt.Sprintf("edge-%03d", n)), append(missing, fmt.Sprintf("edgy-%03d", n))
	}
	if diff := cmp.Diff(maxShown, strings.Count(suggestNames("Sites", missing, missing, usable), " instead of ")); diff != "" {
		t.Errorf("\nThe first missing names are compared with all usable names, and no more of them.\nsuggestNames(...): questions: -want, +got:\n%s", diff)
	}
}
