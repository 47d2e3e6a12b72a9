package diagnosis

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// readOnce reads the expected objects of all tests, which no test changes.
var (
	readOnce      = sync.OnceValues(ReadExpected)
	readInstalled = sync.OnceValues(samples.Installation)
)

func expected(t *testing.T) *Expected {
	t.Helper()
	e, err := readOnce()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// wellFacts are the facts of a healthy installation, and of an unused configuration and an unused Site.
func wellFacts(t *testing.T) *Facts {
	t.Helper()
	e := expected(t)
	f := &Facts{Client: "v0.1.2", Account: e.Account, Allowed: map[Right]bool{}}
	for _, r := range e.Asked() {
		f.Allowed[r] = true
	}
	all, err := readInstalled()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		f.addObject(t, o)
	}
	f.ClusterConfigs.Items = []cause.Object{object(clusterConfig, "", "default")}
	f.Sites.Items = []Site{{TypeMeta: metav1.TypeMeta{Kind: "Site"}, Metadata: metav1.ObjectMeta{Name: "edge1"}}}
	f.Kubernetes.Items = []string{"v1.36.3"}
	return f
}

func (f *Facts) addObject(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	switch o.GetKind() {
	case "Deployment":
		addTo(t, &f.Crossplane, o)
	case "Configuration":
		addTo(t, &f.Configurations, o)
	case "Function":
		addTo(t, &f.Functions, o)
	case "Provider":
		addTo(t, &f.Providers, o)
	case "CompositeResourceDefinition":
		addTo(t, &f.Definitions, o)
	case "ManagedResourceDefinition":
		addTo(t, &f.Kinds, o)
	case "ValidatingAdmissionPolicy":
		addTo(t, &f.Policies, o)
	case "ValidatingAdmissionPolicyBinding":
		addTo(t, &f.Bindings, o)
	}
}

func addTo[T any](t *testing.T, p *Part[T], o *unstructured.Unstructured) {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var item T
	if err := json.Unmarshal(b, &item); err != nil {
		t.Fatal(err)
	}
	p.Items = append(p.Items, item)
}

func object(kind, namespace, name string) cause.Object {
	return cause.Object{TypeMeta: metav1.TypeMeta{Kind: kind}, Metadata: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// answeredAfter returns conditions whose last transition is some minutes after noon.
func answeredAfter(minutes int, typ, status, reason string) cause.Conditions {
	timestamp := metav1.NewTime(time.Date(2031, 5, 6, 12, minutes, 0, 0, time.UTC))
	return cause.Conditions{{Type: typ, Status: metav1.ConditionStatus(status), Reason: reason, Message: "because", LastTransitionTime: &timestamp}}
}

// delivers adds a GitDelivery to facts.
func (f *Facts) delivers(kind, namespace, config string, minutes int, reason xpv2.ConditionReason) {
	d := Delivery{Metadata: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}}
	d.Spec.Config = &xpv2.ProviderConfigReference{Kind: kind, Name: config}
	d.Status.Conditions = answeredAfter(minutes, "Ready", "False", string(reason))
	f.Deliveries.Items = append(f.Deliveries.Items, d)
}

// syncs adds a SiteSync to facts.
func (f *Facts) syncs(minutes int, state deliveryv1alpha1.SiteState, reason string) {
	s := Sync{Metadata: metav1.ObjectMeta{Namespace: "team-a", Name: "shop"}}
	s.Status.Conditions = answeredAfter(minutes, "Ready", "False", "Syncing")
	s.Status.AtProvider.Sites = []SiteSeen{{Name: "edge1", State: state, Reason: reason, Message: "because"}}
	f.Syncs.Items = append(f.Syncs.Items, s)
}

// sayLine is a line in the form that a test expects.
func sayLine(l Line) string {
	return strings.Join([]string{string(l.Result), l.Check, l.Object, l.Message, l.Fix}, " | ")
}

// unread says that a user may not read a resource.
func unread(kinds string) *cause.Unread {
	return &cause.Unread{Object: kinds, Reason: "the user may not read them"}
}

func TestExamine(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(*Facts)
		want   []string
	}{
		"Well": {reason: "An installation that is well has no problem, and a configuration that nothing has used is unknown.", want: []string{
			"unknown | configurations | ClusterProviderConfig default | no GitDelivery that uses it has an answer of the repository | ",
		}},
		"Skew": {
			reason: "A part of another minor version is named.", edit: func(f *Facts) { f.Functions.Items[0].Spec.Package = "r:5000/function-intentplane:v0.2.0" },
			want: []string{"problem | versions | Function intentplane-function-intentplane | v0.2.0 is of another minor version than Configuration configuration-intentplane-namespaced, which is v0.1.0. | " +
				"Take all parts of one minor version, as docs/install.md#upgrading says: v0.1 of this one, or a newer Configuration configuration-intentplane-namespaced."},
		},
		"ClientSkew": {
			reason: "The program itself has to be of that minor version too.", edit: func(f *Facts) { f.Client = "v1.1.0" },
			want: []string{"problem | versions | kubectl-intent | v1.1.0 is of another minor version than Configuration configuration-intentplane-namespaced, which is v0.1.0. | " +
				"Take all parts of one minor version, as docs/install.md#upgrading says: v0.1 of this one, or a newer Configuration configuration-intentplane-namespaced."},
		},
		"Digest": {
			reason: "A package that is named by its digest alone has no version that is known.",
			edit:   func(f *Facts) { f.Providers.Items[0].Spec.Package = "r:5000/provider@sha256:abc" },
			want:   []string{"unknown | versions | Provider intentplane-provider-intentplane | no tag says the version | "},
		},
		"Development": {
			reason: "A build without a version cannot be compared.",
			edit:   func(f *Facts) { f.Client = "dev" },
			want:   []string{"unknown | versions | kubectl-intent | dev is not a version that can be compared | "},
		},
		"OldCrossplane": {
			reason: "A Crossplane that is older than the packages demand is named.",
			edit:   func(f *Facts) { f.Crossplane.Items[0].Metadata.Labels[labelVersion] = "2.3.9" },
			want: []string{
				"problem | versions | Crossplane crossplane-system/crossplane | 2.3.9 does not fit >=v2.4.0-0. | Upgrade Crossplane: the packages " +
					"of Intentplane demand >=v2.4.0-0.",
			},
		},
		"CrossplaneElsewhere": {reason: "A Crossplane that runs in another way has no version that is known.", edit: func(f *Facts) { f.Crossplane.Items = nil }, want: []string{
			"unknown | versions | Crossplane | no Deployment has the label app=crossplane | ",
		}},
		"NoCrossplane": {reason: "A cluster without Crossplane's kinds has no Crossplane.", edit: func(f *Facts) { f.Configurations.IsAbsent = true }, want: []string{
			"problem | versions | Crossplane | The cluster does not have the kinds of Crossplane. | Install Crossplane: docs/install.md says how.",
		}},
		"Unhealthy": {
			reason: "A package that is not healthy is named.", edit: func(f *Facts) {
				f.Functions.Items[0].Status.Conditions[1] = answeredAfter(0, "Healthy", "False", "Unhealthy")[0]
			},
			want: []string{
				"problem | packages | Function intentplane-function-intentplane | Healthy is False (Unhealthy): because | Repair the package: " +
					"kubectl describe shows its conditions.",
			},
		},
		"NoProvider": {reason: "A package that is missing is named.", edit: func(f *Facts) { f.Providers.Items = nil }, want: []string{
			"problem | packages | Provider | No package of Intentplane is installed. | Install a Configuration, which brings the function and " +
				"the provider: docs/install.md says how.",
		}},
		"NotOffered": {
			reason: "A definition that does not offer its claim is named.", edit: func(f *Facts) {
				f.Definitions.Items[0].Status.Conditions = append(f.Definitions.Items[0].Status.Conditions, answeredAfter(0, "Offered", "False", "Terminating")...)
			},
			want: []string{
				"problem | definitions | intentdeployments.intentplane.dev | Offered is False (Terminating): because | Activate the definition: " +
					"docs/install.md has the steps, and kubectl describe of the definition shows the missing parts.",
			},
		},
		"NoDefinition": {
			reason: "A Configuration that is installed has all of its definitions.", edit: func(f *Facts) { f.Definitions.Items = f.Definitions.Items[:1] },
			want: []string{
				"problem | definitions | workloadclusters.intentplane.dev | The cluster has no CompositeResourceDefinition of this name. | Activate " +
					"the definition: docs/install.md has the steps, and kubectl describe of the definition shows the missing parts.",
			},
		},
		"Inactive": {
			reason: "A kind that is not active is named.", edit: func(f *Facts) { f.Kinds.Items[0].Spec.State = "Inactive" },
			want: []string{
				"ok | kinds | kinds of the provider | 14 of 15 are active | ",
				"problem | kinds | imagebuilds.build.intentplane.dev | The kind is not active: no ManagedResourceActivationPolicy names it. | Apply " +
					"the policies of package/activation, or install the Configuration again, which has one.",
			},
		},
		"Right": {
			reason: "The rights of a rule that the account does not have are named.", edit: func(f *Facts) {
				f.Allowed[Right{Verb: "create", Group: "cluster.x-k8s.io", Resource: "clusters"}] = false
				f.Allowed[Right{Verb: "delete", Group: "cluster.x-k8s.io", Resource: "clusters"}] = false
			},
			want: []string{"problem | rights | ServiceAccount crossplane-system/provider-intentplane | may not create, delete clusters.cluster.x-k8s.io | " +
				"kubectl apply -f examples/rbac/provider.yaml; the subject of its binding has to be crossplane-system/provider-intentplane."},
		},
		"Unasked": {
			reason: "Rights that cannot be asked for are unknown.", edit: func(f *Facts) {
				f.Allowed, f.Unasked = nil, unread("subjectaccessreviews.authorization.k8s.io")
			},
			want: []string{"unknown | rights | subjectaccessreviews.authorization.k8s.io | not read: the user may not read them | "},
		},
		"Password": {
			reason: "A configuration is as its newest GitDelivery says.", edit: func(f *Facts) {
				f.delivers(clusterConfig, "team-a", "default", 3, deliveryv1alpha1.ReasonDelivered)
				f.delivers(clusterConfig, "team-b", "default", 4, deliveryv1alpha1.ReasonAuthFailed)
				f.delivers(clusterConfig, "team-c", "default", 5, deliveryv1alpha1.ReasonPushing)
			},
			want: []string{
				"problem | configurations | ClusterProviderConfig default | GitDelivery team-b/shop: because | Correct the credentials in the " +
					"Secret of the configuration.",
			},
		},
		"OwnCondition": {
			reason: "A configuration that no GitDelivery uses is as its condition Ready says.", edit: func(f *Facts) {
				f.ClusterConfigs.Items = []cause.Object{object(clusterConfig, "", "default"), object(clusterConfig, "", "down"), object(clusterConfig, "", "edited")}
				f.answersConfig(0, metav1.ConditionTrue, "Reachable", 0)
				f.answersConfig(1, metav1.ConditionFalse, "AuthFailed", 0)
				f.answersConfig(2, metav1.ConditionTrue, "Reachable", 7)
			},
			want: []string{
				"ok | configurations | ClusterProviderConfig default | reached, as its condition Ready says | ",
				"problem | configurations | ClusterProviderConfig down | condition Ready: because | Correct the credentials in the Secret of the configuration.",
				"unknown | configurations | ClusterProviderConfig edited | no GitDelivery that uses it has an answer of the repository | ",
			},
		},
		"OfNamespace": {
			reason: "A configuration of a namespace is not the configuration of the cluster.", edit: func(f *Facts) {
				f.Configs.Items = []cause.Object{object("ProviderConfig", "team-a", "default")}
				f.delivers("ProviderConfig", "team-a", "default", 3, deliveryv1alpha1.ReasonDrifted)
				f.delivers("ProviderConfig", "team-b", "default", 4, deliveryv1alpha1.ReasonUnreachable)
			},
			want: []string{
				"unknown | configurations | ClusterProviderConfig default | no GitDelivery that uses it has an answer of the repository | ",
				"ok | configurations | ProviderConfig team-a/default | reached, as GitDelivery team-a/shop says | ",
			},
		},
		"Suspended": {
			reason: "A Site is as its newest SiteSync says.", edit: func(f *Facts) {
				f.syncs(3, deliveryv1alpha1.SiteLive, "")
				f.syncs(4, deliveryv1alpha1.SiteSyncing, deliveryv1alpha1.SiteReasonSuspended)
				f.syncs(5, deliveryv1alpha1.SitePending, deliveryv1alpha1.SiteReasonWaveNotReached)
			},
			want: []string{"problem | sites | Site edge1 | SiteSync team-a/shop: because | Resume the engine's object, or sync it by hand according to the message."},
		},
		"Reached": {reason: "An engine that is at work is reached.", edit: func(f *Facts) { f.syncs(3, deliveryv1alpha1.SiteSyncing, deliveryv1alpha1.SiteReasonProgressing) }, want: []string{
			"ok | sites | Site edge1 | reached, as SiteSync team-a/shop says | ",
		}},
		"Provisioning": {reason: "A cluster that is being made is not known to be reached.", edit: func(f *Facts) { f.syncs(3, deliveryv1alpha1.SiteWaitingForCluster, "Provisioning") }, want: []string{
			"unknown | sites | Site edge1 | SiteSync team-a/shop: because | ",
		}},
		"Newer": {
			reason: "A reason of a newer version is a problem with a fix.", edit: func(f *Facts) { f.syncs(3, deliveryv1alpha1.SiteFailed, "Newer") },
			want: []string{"problem | sites | Site edge1 | SiteSync team-a/shop: because | Follow the message: this version does not know the reason."},
		},
		"Unread": {reason: "An unread kind is named, and is not a problem.", edit: func(f *Facts) { f.Sites.Unread = unread("sites.catalog.intentplane.dev") }, want: []string{
			"unknown | sites | sites.catalog.intentplane.dev | not read: the user may not read them | ",
		}},
		"Unbound": {
			reason: "A policy without its binding refuses nothing, which is advice.", edit: func(f *Facts) { f.Bindings.Items = f.Bindings.Items[1:] },
			want: []string{
				"advice | policies | approvals.rollout.intentplane.dev | The policy is not applied, or not bound. | kubectl apply -k " +
					"examples/policies, if its rules fit: docs/install.md lists them.",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := wellFacts(t)
			well := map[string]bool{}
			if tc.edit != nil {
				for _, l := range Examine(expected(t), f) {
					well[sayLine(l)] = true
				}
				tc.edit(f)
			}
			var got []string
			for _, l := range Examine(expected(t), f) {
				if says := sayLine(l); !well[says] && (tc.edit != nil || l.Result != OK) || l.Result == Unknown && strings.HasPrefix(says, tc.want[0]) {
					got = append(got, says)
				}
				if (l.Result == Problem) && l.Fix == "" {
					t.Errorf("\nEach problem has a fix.\n%+v", l)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nExamine(...): lines that are new: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestExamineBefore(t *testing.T) {
	right := Right{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}
	cases := map[string]struct {
		reason string
		edit   func(*Facts)
		want   []string
	}{
		"Ready": {reason: "An administrator installs into a cluster with Crossplane.", edit: func(*Facts) {}},
		"OldKubernetes": {reason: "An API server that does not serve the policies is too old.", edit: func(f *Facts) { f.Kubernetes.Items = []string{"v1.29.4"} }, want: []string{
			"problem | versions | Kubernetes | v1.29.4 does not fit >=1.30.0-0. | Upgrade Kubernetes: the policies of Intentplane need >=1.30.0-0.",
		}},
		"NoPolicies": {reason: "An API server whose API of policies is switched off is not ready.", edit: func(f *Facts) { f.Policies.IsAbsent = true }, want: []string{
			"problem | policies | Kubernetes | The API server does not serve validatingadmissionpolicies.admissionregistration.k8s.io/v1. | " +
				"Upgrade Kubernetes to 1.30, or switch the API on: without it the files of examples/policies cannot be applied, and RBAC alone does not guard approvals.",
		}},
		"OldCrossplane": {
			reason: "A Crossplane of version 1 has no definitions of managed kinds, also where no tag says its version.",
			edit: func(f *Facts) {
				f.Kinds.IsAbsent = true
				f.Crossplane.Items[0].Metadata.Labels = nil
				f.Crossplane.Items[0].Spec.Template.Spec.Containers[0].Image = "registry.example.org/crossplane@sha256:0"
			},
			want: []string{
				"unknown | versions | Crossplane crossplane-system/crossplane | no tag says the version | ",
				"problem | versions | Crossplane | Crossplane is older than version 2: it does not serve managedresourcedefinitions.apiextensions.crossplane.io. | " +
					"Upgrade Crossplane: the packages of Intentplane demand >=v2.4.0-0.",
			},
		},
		"OlderPackages": {
			reason: "Packages of an earlier minor version are upgraded, and not installed beside the new ones.",
			edit: func(f *Facts) {
				f.Client = "v0.3.0"
				f.Configurations.Items, f.Functions.Items = nil, nil
			},
			want: []string{"problem | versions | Provider intentplane-provider-intentplane | v0.1.0 is installed, and kubectl-intent is v0.3.0. | " +
				"Upgrade by one minor version at a time, as docs/install.md#upgrading says."},
		},
		"NewerPackages": {
			reason: "A program that is older than the packages installs nothing.",
			edit: func(f *Facts) {
				f.Client = "v0.0.9"
				f.Configurations.Items, f.Functions.Items = nil, nil
			},
			want: []string{"problem | versions | Provider intentplane-provider-intentplane | v0.1.0 is installed, and kubectl-intent is v0.0.9. | Install kubectl-intent v0.1."},
		},
		"Mirror": {
			reason: "The settings of programs are looked up by the name that an image has in a mirror.",
			edit: func(f *Facts) {
				f.Images.Items = append(f.Images.Items, mirrorOf("mirror", "ghcr.io", "r.example.org/ghcr"), runtimeFor("ghcr.io/intentplane"))
			},
			want: []string{missingSettings(Advice, mirroredProvider), missingSettings(Advice, mirroredFunction)},
		},
		"NoRight": {reason: "A right that the user does not have is named.", edit: func(f *Facts) { f.Allowed[right] = false }, want: []string{
			"problem | rights | you | may not create clusterroles.rbac.authorization.k8s.io | Ask an administrator of the cluster for the right, or to install it.",
		}},
		"Escalation": {
			reason: "A user cannot give rights that the user does not have.", edit: func(f *Facts) {
				f.Allowed[escalateRight()], f.Allowed[Right{Verb: "get", Resource: "namespaces"}] = false, false
			},
			want: []string{"problem | rights | you | may not get namespaces | " +
				"Let an administrator apply examples/rbac/provider.yaml: Kubernetes lets a user give only the rights that the user has."},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := wellFacts(t)
			tc.edit(f)
			var got []string
			for _, l := range ExamineBefore(expected(t), f) {
				if l.Result != OK {
					got = append(got, sayLine(l))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nExamineBefore(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// answersConfig gives a configuration of the cluster a condition Ready, about a generation that may differ from the generation of the
// object.
func (f *Facts) answersConfig(i int, status metav1.ConditionStatus, reason string, generation int64) {
	f.ClusterConfigs.Items[i].Status.Conditions = cause.Conditions{{Type: typeReady, Status: status, Reason: reason, Message: "because", ObservedGeneration: generation}}
}
