package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/soak"
)

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team-a}\n"

// input returns an input that passes.
func input() Input {
	s := &catalogv1alpha1.Site{}
	s.SetName("edge1")
	s.Spec.Repository.Path = "clusters/edge1"
	s.Spec.Default()
	s.Spec.AllowedNamespaces = []string{"team-a"}
	s.Spec.TargetNamespaces.Allowed = []string{ownNamespace}
	return Input{
		Claim:      rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "shop"},
		Site:       s,
		ConfigKind: KindClusterProviderConfig,
		Config:     &configv1alpha1.ProviderConfigSpec{Git: configv1alpha1.GitRemote{Branch: "main", PathPrefix: "fleet"}},
		Branch:     "main",
		Path:       "fleet/clusters/edge1/team-a/shop",
		Layout:     catalogv1alpha1.LayoutKustomization,
		Files:      with(configMap),
	}
}

// with is a directory with one object.
func with(object string) tree.Files {
	return tree.Files{"a.yaml": []byte(object), "kustomization.yaml": []byte("resources: [a.yaml]\n")}
}

func object(apiVersion, kind, metadata string) tree.Files {
	return with(fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: a%s}\n", apiVersion, kind, metadata))
}

func named(group string, kinds ...string) []configv1alpha1.KindSet {
	return []configv1alpha1.KindSet{{Group: group, Kinds: kinds}}
}

type checkCase struct {
	reason string
	change func(*Input)
	// want is a part of the error. Empty means that there is none.
	want string
}

func runCheckTree(t *testing.T, cases map[string]checkCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := input()
			tc.change(&in)
			got := ""
			if err := CheckTree(in); err != nil {
				got = err.Error()
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nCheckTree(...): -want, +got:\n%s", tc.reason, cmp.Diff(tc.want, got))
			}
		})
	}
}

func TestCheckTreePlace(t *testing.T) {
	runCheckTree(t, map[string]checkCase{
		"Good": {reason: "A tree that every limit allows passes.", change: func(*Input) {}},
		"OtherClaim": {
			reason: "The directory of another claim is refused.",
			change: func(in *Input) { in.Path = "fleet/clusters/edge1/team-a/other" }, want: "is not the claim's directory",
		},
		"OtherNamespace": {
			reason: "The directory of another namespace is refused.",
			change: func(in *Input) { in.Path = "fleet/clusters/edge1/team-b/shop" }, want: "is not the claim's directory",
		},
		"Parent": {
			reason: "A path that leads through a parent directory is refused.",
			change: func(in *Input) { in.Path += "/../other" }, want: "is not the claim's directory",
		},
		"WithoutPrefix": {
			reason: "A path above the prefix of the configuration is refused.",
			change: func(in *Input) { in.Path = "clusters/edge1/team-a/shop" }, want: "is not the claim's directory",
		},
		"Below": {
			reason: "A path below the directory of the claim is refused.",
			change: func(in *Input) { in.Path += "/x" }, want: "is not the claim's directory",
		},
		"Root":   {reason: "The root of the repository is refused.", change: func(in *Input) { in.Path = "" }, want: "is not the claim's directory"},
		"Branch": {reason: "A branch that the configuration does not name.", change: func(in *Input) { in.Branch = "release" }, want: `"release"`},
		"BranchPolicy": {
			reason: "A branch that the policy does not list, also when the configuration names it.",
			change: func(in *Input) { in.Config.Policy.Branches = []string{"staging"} }, want: "spec.policy.branches",
		},
		"OtherListed": {
			reason: "A branch that the policy lists is still not the configuration's.",
			change: func(in *Input) { in.Branch = "staging"; in.Config.Policy.Branches = []string{"staging", "main"} }, want: `"staging"`,
		},
		"SiteNotAllowed": {
			reason: "A Site that the namespace may not use.",
			change: func(in *Input) { in.Site.Spec.AllowedNamespaces = []string{"team-b"} }, want: "does not exist or may not be used",
		},
		"SiteForNobody": {
			reason: "A Site whose list of namespaces is empty may be used by none.",
			change: func(in *Input) { in.Site.Spec.AllowedNamespaces = nil }, want: "does not exist or may not be used",
		},
		"SiteForAll": {reason: "A star in allowedNamespaces allows every namespace.", change: func(in *Input) { in.Site.Spec.AllowedNamespaces = []string{"*"} }},
	})
}

func TestCheckTreeKinds(t *testing.T) {
	allowClusterScoped := func(in *Input) { in.Site.Spec.TargetNamespaces.ClusterScoped = catalogv1alpha1.ClusterScopedAllow }
	runCheckTree(t, map[string]checkCase{
		"ClusterRole": {
			reason: "Cluster-scoped kinds are denied, whatever namespace they say to be in.",
			change: func(in *Input) {
				in.Files = object("rbac.authorization.k8s.io/v1", "ClusterRole", ", namespace: team-a")
			}, want: "clusterScoped does not allow",
		},
		"OldClusterRole": {
			reason: "A forbidden kind is refused in every version.",
			change: func(in *Input) {
				in.Files = object("rbac.authorization.k8s.io/v1beta1", "ClusterRole", ", namespace: team-a")
				in.Config.Policy.AllowedKinds = named("rbac.authorization.k8s.io", "*")
			}, want: "clusterScoped does not allow",
		},
		"Namespace": {
			reason: "A Namespace is cluster-scoped, so it needs clusterScoped.",
			change: func(in *Input) { in.Files = object("v1", "Namespace", "") }, want: "clusterScoped does not allow",
		},
		"SiteAllows": {
			reason: "A Site that allows cluster-scoped objects is not enough: the configuration has to name the kind.",
			change: func(in *Input) { allowClusterScoped(in); in.Files = object("v1", "Namespace", "") }, want: "must be named in spec.policy.allowedKinds",
		},
		"BothAllow": {
			reason: "A cluster-scoped kind passes where Site and configuration both allow it.",
			change: func(in *Input) {
				allowClusterScoped(in)
				in.Config.Policy.AllowedKinds = named("", "Namespace")
				in.Files = object("v1", "Namespace", "")
			},
		},
		"NamespacedConfigAllows": {
			reason: "A configuration of the tenant's own cannot name a cluster-scoped kind.",
			change: func(in *Input) {
				allowClusterScoped(in)
				in.ConfigKind = KindProviderConfig
				in.Config.Policy.AllowedKinds = named("", "*")
				in.Files = object("v1", "Namespace", "")
			}, want: "of a ClusterProviderConfig",
		},
		"Unknown": {
			reason: "An unknown kind may be cluster-scoped, whatever its metadata says.",
			change: func(in *Input) { in.Files = object("example.org/v1", "Widget", ", namespace: team-a") }, want: "does not name this kind",
		},
		"UnknownNamed": {
			reason: "An unknown kind passes where the configuration names it.",
			change: func(in *Input) {
				in.Config.Policy.AllowedKinds = named("example.org", "Widget")
				in.Files = object("example.org/v1", "Widget", ", namespace: team-a")
			},
		},
		"UnknownNamedByTenant": {
			reason: "A configuration of the tenant's own only narrows, or its owner could name a cluster-scoped kind.",
			change: func(in *Input) {
				in.ConfigKind = KindProviderConfig
				in.Config.Policy.AllowedKinds = named("gateway.networking.k8s.io", "GatewayClass")
				in.Files = object("gateway.networking.k8s.io/v1", "GatewayClass", ", namespace: team-a")
			}, want: "of a ClusterProviderConfig",
		},
		"UnknownWithoutNamespace": {
			reason: "Without a namespace it is cluster-scoped.",
			change: func(in *Input) {
				in.Config.Policy.AllowedKinds = named("example.org", "Widget")
				in.Files = object("example.org/v1", "Widget", "")
			}, want: "clusterScoped does not allow",
		},
		"NotListed": {
			reason: "A list of kinds is the whole list.",
			change: func(in *Input) { in.Config.Policy.AllowedKinds = named("apps", "*") }, want: "does not name this kind",
		},
		"GroupListed": {reason: "A star is every kind of the group.", change: func(in *Input) { in.Config.Policy.AllowedKinds = named("", "*") }},
		"OtherGroup": {
			reason: "A kind of another group is another kind.",
			change: func(in *Input) { in.Config.Policy.AllowedKinds = named("apps", "ConfigMap") }, want: "does not name this kind",
		},
		"NarrowedByTenant": {reason: "The list of a namespace's own configuration narrows which kinds pass.", change: func(in *Input) {
			in.ConfigKind = KindProviderConfig
			in.Config.Policy.AllowedKinds = named("apps", "*")
		}, want: "does not name this kind"},
		"Secret": {
			reason: "Secrets do not belong into Git.",
			change: func(in *Input) { in.Files = object("v1", "Secret", ", namespace: team-a") }, want: "plainSecrets",
		},
		"NamedSecret": {
			reason: "Naming the kind does not change that.",
			change: func(in *Input) {
				in.Config.Policy.AllowedKinds = named("", "*")
				in.Files = object("v1", "Secret", ", namespace: team-a")
			}, want: "plainSecrets",
		},
		"SecretAllowed": {
			reason: "Unless the configuration says so.",
			change: func(in *Input) {
				in.Config.Policy.PlainSecrets = configv1alpha1.PlainSecretsAllow
				in.Files = object("v1", "Secret", ", namespace: team-a")
			},
		},
		"SecretAllowedByTenant": {
			reason: "A configuration of the tenant's own only narrows.",
			change: func(in *Input) {
				in.ConfigKind = KindProviderConfig
				in.Config.Policy.PlainSecrets = configv1alpha1.PlainSecretsAllow
				in.Files = object("v1", "Secret", ", namespace: team-a")
			}, want: "plainSecrets",
		},
	})
}

func TestCheckTreeNamespaces(t *testing.T) {
	allow := func(names ...string) func(*Input) {
		return func(in *Input) { in.Site.Spec.TargetNamespaces.Allowed = names }
	}
	runCheckTree(t, map[string]checkCase{
		"Own":       {reason: "An object in the claim's own namespace passes where the Site allows that.", change: allow(ownNamespace)},
		"OwnByName": {reason: "A namespace may be allowed by its own name.", change: allow("x", "team-a")},
		"Every":     {reason: "An object in any namespace passes where the Site allows all.", change: allow("*")},
		"None":      {reason: "An empty list allows no namespace.", change: allow(), want: `does not allow namespace "team-a"`},
		"Other": {
			reason: "An object in a namespace that the Site does not name is refused.",
			change: allow("team-b"), want: `does not allow namespace "team-a"`,
		},
		"NoPattern": {reason: "A namespace in the list of a Site is a name, not a pattern.", change: allow("team-*"), want: `does not allow namespace "team-a"`},
		"System": {
			reason: "An object in a system namespace is refused.",
			change: func(in *Input) { in.Files = object("v1", "ConfigMap", ", namespace: kube-system") }, want: `"kube-system"`,
		},
		"Star": {
			reason: "A star as the namespace of an object is refused.",
			change: func(in *Input) { in.Files = object("v1", "ConfigMap", `, namespace: "*"`) }, want: "does not allow namespace",
		},
		"Missing": {
			reason: "Without one, an engine would choose.",
			change: func(in *Input) { in.Files = object("v1", "ConfigMap", "") }, want: "metadata.namespace is missing",
		},
		"NotText": {
			reason: "A namespace that is a number is refused as missing.",
			change: func(in *Input) { in.Files = object("v1", "ConfigMap", ", namespace: 5") }, want: "metadata.namespace is missing",
		},
		"EverySystem": {reason: "A star allows the system's namespaces, too.", change: func(in *Input) { allow("*")(in); in.Files = object("v1", "ConfigMap", ", namespace: kube-system") }},
		"OwnIsNotOthers": {
			reason: "The placeholder is the claim's namespace only.",
			change: func(in *Input) { in.Files = object("v1", "ConfigMap", ", namespace: team-b") }, want: `"team-b"`,
		},
	})
}

func TestCheckTreeFiles(t *testing.T) {
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n"
	files := func(f tree.Files) func(*Input) { return func(in *Input) { in.Files = f } }
	kustomization := func(text string) func(*Input) {
		return files(tree.Files{"a.yaml": []byte(configMap), "kustomization.yaml": []byte(text)})
	}
	list := []byte("resources: [a.yaml]\n")
	runCheckTree(t, map[string]checkCase{
		"TwoDocuments": {reason: "Several objects in one file are each checked.", change: files(with(configMap + "---\n" + configMap))},
		"SecondDocument": {
			reason: "The second document of a file is checked like the first one.",
			change: files(with(configMap + "---\n" + role)), want: "clusterScoped",
		},
		"HiddenByTag": {
			reason: "A separator with something behind it begins a document too.",
			change: files(with(configMap + "--- !!map\n" + role)), want: "document separator",
		},
		"HiddenByFlow": {
			reason: "A document may stand in the separator's own line.",
			change: files(with(configMap + "--- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n")), want: "document separator",
		},
		"HiddenByEnd": {reason: "Three dots end a document, and another may follow.", change: files(with(configMap + "...\n" + role)), want: "cannot decode YAML"},
		"HiddenByReturn": {
			reason: "A carriage return ends a line of YAML.",
			change: files(with(strings.ReplaceAll(configMap+"---\n"+role, "\n", "\r"))), want: "three dashes",
		},
		"OtherEncoding": {
			reason: "A file in UTF-16 is refused although it is YAML.",
			change: files(with("\xfe\xff" + strings.Join(strings.Split("\n"+configMap+"---\n"+role, ""), "\x00"))), want: "a.yaml",
		},
		"DuplicateKey": {reason: "Decoders differ about which one counts.", change: files(with(configMap + "kind: Secret\n")), want: "already set"},
		"NestedDuplicate": {
			reason: "A field that comes twice in a nested object is refused.",
			change: files(with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team-a, namespace: kube-system}\n")), want: "already set",
		},
		"List": {
			reason: "Objects in a list would not be checked.",
			change: files(with("apiVersion: v1\nkind: List\nmetadata: {name: a, namespace: team-a}\nitems: []\n")), want: "is a list",
		},
		"TypedList": {
			reason: "An object in a list of one kind is refused.",
			change: files(with("apiVersion: v1\nkind: ConfigMapList\nmetadata: {name: a, namespace: team-a}\nitems: []\n")), want: "is a list",
		},
		"ResourceList": {
			reason: "An object in a ResourceList of kustomize is refused.",
			change: files(with("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nmetadata: {name: a, namespace: team-a}\nitems: []\n")),
			want:   "is a list",
		},
		"NoObject": {reason: "A document that is not an object is refused.", change: files(with("hello")), want: "cannot decode YAML"},
		"NoName": {
			reason: "An object without a name of its own is refused.",
			change: files(with("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a, namespace: team-a}\n")), want: "not an object",
		},
		"NotYAML": {reason: "A file that is not YAML is refused.", change: files(with("a: [")), want: "cannot decode YAML"},
		"Aliases": {reason: "A few lines that stand for billions.", change: files(with(bomb())), want: "cannot decode YAML"},
		"AliasedText": {
			reason: "A text that a hundred aliases repeat is refused.", want: "aliases stand for more than 1 MiB",
			change: files(with(configMap + "data: {a: &a " + strings.Repeat("x", 20_000) + "}\nlist: [" + strings.Repeat("*a, ", 100) + "]\n")),
		},
		"ExtraFile": {
			reason: "A file that is not listed would be read by engines that read everything.",
			change: files(tree.Files{"a.yaml": []byte(configMap), "b.yaml": []byte(configMap), "kustomization.yaml": list}), want: "the directory's other files",
		},
		"YML": {
			reason: "A file with the extension yml is refused.",
			change: files(tree.Files{"a.yml": []byte(configMap), "kustomization.yaml": []byte("resources: [a.yml]")}), want: "only flat files",
		},
		"JSON": {
			reason: "A file with the extension json is refused.",
			change: files(tree.Files{"a.json": []byte(configMap), "kustomization.yaml": []byte("resources: [a.json]")}), want: "only flat files",
		},
		"Script": {
			reason: "A script in the directory is refused.",
			change: files(tree.Files{"a.sh": []byte(configMap), "kustomization.yaml": []byte("resources: [a.sh]")}), want: "only flat files",
		},
		"UpperCase": {
			reason: "A file with upper-case characters is refused, since some file systems ignore case.",
			change: files(tree.Files{"A.yaml": []byte(configMap), "kustomization.yaml": list}), want: "only flat files",
		},
		"Nested": {
			reason: "A file in a folder is refused.",
			change: files(tree.Files{"x/a.yaml": []byte(configMap), "kustomization.yaml": list}), want: "only flat files",
		},
		"SecondKust": {
			reason: "A second kustomization of another name.",
			change: files(tree.Files{"a.yaml": []byte(configMap), "kustomization.yaml": list, "kustomization.yml": list}), want: "only flat files",
		},
		"NamelessKust": {
			reason: "The third name that kustomize knows.",
			change: files(tree.Files{"a.yaml": []byte(configMap), "kustomization.yaml": list, "Kustomization": list}), want: "only flat files",
		},
		"UpperCaseKust": {
			reason: "A file system that knows no case.",
			change: files(tree.Files{"a.yaml": []byte(configMap), "KUSTOMIZATION.yaml": list, "kustomization.yaml": list}), want: "only flat files",
		},
		"DotFile": {
			reason: "A hidden file is refused, since engines skip it.",
			change: files(tree.Files{".a.yaml": []byte(configMap)}), want: "begins with a dot",
		},
		"NoKustomization": {reason: "Without one an engine makes its own.", change: files(tree.Files{"a.yaml": []byte(configMap)}), want: "is missing"},
		"Remote": {
			reason: "A kustomization with a remote resource is refused.",
			change: kustomization("resources: [a.yaml, 'https://example.org/x.yaml']"), want: "the directory's other files",
		},
		"Above": {
			reason: "A resource from another directory is refused.",
			change: kustomization("resources: [a.yaml, ../other]"), want: "the directory's other files",
		},
		"ListedTwice": {
			reason: "A kustomization that lists a resource twice is refused.",
			change: kustomization("resources: [a.yaml, a.yaml]"), want: "the directory's other files",
		},
		"NotListed": {reason: "A file that is left out.", change: kustomization("resources: []"), want: "the directory's other files"},
		"HelmCharts": {
			reason: "A kustomization that fetches Helm charts is refused.",
			change: kustomization("resources: [a.yaml]\nhelmCharts: [{name: x, repo: https://example.org}]"), want: "may only hold",
		},
		"Patches": {
			reason: "A patch changes objects that were checked.",
			change: kustomization("resources: [a.yaml]\npatches: [{patch: x}]"), want: "may only hold",
		},
		"SetNamespace": {
			reason: "A kustomization that sets a namespace is refused.",
			change: kustomization("resources: [a.yaml]\nnamespace: kube-system"), want: "may only hold",
		},
		"Generators": {
			reason: "A kustomization with a generator is refused.",
			change: kustomization("resources: [a.yaml]\ngenerators: [a.yaml]"), want: "may only hold",
		},
		"SecondKustomizing": {
			reason: "A second document in a kustomization is refused.",
			change: kustomization("resources: [a.yaml]\n---\nnamespace: kube-system"), want: "three dashes",
		},
		"TwiceResources": {
			reason: "A list that comes twice in a kustomization is refused.",
			change: kustomization("resources: [a.yaml]\nresources: ['https://example.org']"), want: "already set",
		},
		"Manifests":         {reason: "A directory for engines that read everything has no kustomization.", change: func(in *Input) { manifests(in); delete(in.Files, "kustomization.yaml") }},
		"ForeignLayout":     {reason: "A directory has the layout of its Site: an engine that reads every file must not meet unchecked files.", change: func(in *Input) { in.Layout = catalogv1alpha1.LayoutManifests; delete(in.Files, "kustomization.yaml") }, want: "is not the layout of Site"},
		"ManifestsWithKust": {reason: "With one they would read that instead.", change: manifests, want: "only flat files"},
	})
}

func bomb() string {
	var b strings.Builder
	b.WriteString("a: &a [x, x, ")
	for c := 'b'; c < 'j'; c++ {
		fmt.Fprintf(&b, "%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	return configMap + b.String()
}

func TestCheckSiteName(t *testing.T) {
	cases := map[string]struct {
		reason  string
		kind    string
		allowed []string
		name    string
		want    bool
	}{
		"Named": {
			reason: "A pattern without a star allows the Site of that name.",
			kind:   KindClusterProviderConfig, allowed: []string{"a", "edge-1"}, name: "edge-1", want: true,
		},
		"Other": {
			reason: "A pattern without a star allows no Site of another name.",
			kind:   KindClusterProviderConfig, allowed: []string{"edge-1"}, name: "edge-10",
		},
		"Pattern":     {reason: "A pattern is for all of it.", kind: KindClusterProviderConfig, allowed: []string{"edge-*"}, name: "edge-10", want: true},
		"PatternPart": {reason: "A pattern has to match the whole name.", kind: KindClusterProviderConfig, allowed: []string{"edge-*"}, name: "my-edge-1"},
		"Every":       {reason: "A star allows every name without a dot.", kind: KindClusterProviderConfig, allowed: []string{"*"}, name: "prod", want: true},
		"Namespace": {
			reason: "Names without a star are names of namespaces.",
			kind:   KindClusterProviderConfig, allowed: []string{"*", "team-*"}, name: "team-b.prod",
		},
		"Dots": {
			reason: "A pattern may name the parts between dots.",
			kind:   KindClusterProviderConfig, allowed: []string{"*.eu.example"}, name: "a.eu.example", want: true,
		},
		"None":      {reason: "Without a list, no name of a Site is allowed.", kind: KindClusterProviderConfig, name: "prod"},
		"OwnConfig": {reason: "A tenant who writes a ProviderConfig cannot allow a Site name.", kind: KindProviderConfig, allowed: []string{"*"}, name: "prod"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &configv1alpha1.ProviderConfigSpec{Policy: configv1alpha1.Policy{SiteNames: tc.allowed}}
			if err := CheckSiteName(tc.kind, c, tc.name); (err == nil) != tc.want {
				t.Errorf("\n%s\nCheckSiteName(...): %v", tc.reason, err)
			}
		})
	}
}

func TestCheckConfig(t *testing.T) {
	cases := map[string]struct {
		reason  string
		kind    string
		allowed []string
		valid   bool
	}{
		"Absent":     {reason: "A configuration without a list allows every namespace.", kind: KindClusterProviderConfig, valid: true},
		"Listed":     {reason: "A configuration may list a namespace.", kind: KindClusterProviderConfig, allowed: []string{"team-a"}, valid: true},
		"Star":       {reason: "A configuration may allow every namespace with a star.", kind: KindClusterProviderConfig, allowed: []string{"*"}, valid: true},
		"NotListed":  {reason: "A namespace that is not on the list.", kind: KindClusterProviderConfig, allowed: []string{"team-b"}},
		"Namespaced": {reason: "A ProviderConfig is named from its own namespace only.", kind: KindProviderConfig, allowed: []string{"team-b"}, valid: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &configv1alpha1.ProviderConfigSpec{Policy: configv1alpha1.Policy{AllowedNamespaces: tc.allowed}}
			if got := CheckConfig(tc.kind, c, "team-a") == nil; got != tc.valid {
				t.Errorf("\n%s\nCheckConfig(...): -want, +got:\n%s", tc.reason, cmp.Diff(tc.valid, got))
			}
		})
	}
}

func TestCheckCount(t *testing.T) {
	three, fiveHundred := int32(3), int32(500)
	cases := map[string]struct {
		reason string
		kind   string
		limit  *int32
		sites  int
		valid  bool
	}{
		"AtLimit":    {reason: "As many Sites as the limit are allowed.", limit: &three, sites: 3, valid: true},
		"Above":      {reason: "One Site more than the limit is refused.", limit: &three, sites: 4},
		"Default":    {reason: "A configuration without a limit allows 100 Sites.", sites: 100, valid: true},
		"AboveThose": {reason: "One Site more than the default limit is refused.", sites: 101},
		"Raised":     {reason: "A configuration of the platform may allow more.", kind: KindClusterProviderConfig, limit: &fiveHundred, sites: 500, valid: true},
		"Narrowed":   {reason: "One of the tenant's own may allow less.", kind: KindProviderConfig, limit: &three, sites: 4},
		"Widened":    {reason: "A ProviderConfig cannot allow more Sites than the default.", kind: KindProviderConfig, limit: &fiveHundred, sites: 101},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &configv1alpha1.ProviderConfigSpec{Policy: configv1alpha1.Policy{MaxSites: tc.limit}}
			if got := CheckCount(tc.kind, c, tc.sites) == nil; got != tc.valid {
				t.Errorf("\n%s\nCheckCount(...): -want, +got:\n%s", tc.reason, cmp.Diff(tc.valid, got))
			}
		})
	}
}

func manifests(in *Input) {
	in.Layout, in.Site.Spec.Repository.Layout = catalogv1alpha1.LayoutManifests, catalogv1alpha1.LayoutManifests
}

func FuzzCheckTree(f *testing.F) {
	for _, s := range []string{configMap, bomb(), configMap + "--- !!map\na: 1\n", "a: [", "\xfe\xff\x00a", "apiVersion: 1\nkind: [x]\nmetadata: 5\n"} {
		f.Add("a.yaml", []byte(s), []byte("resources: [a.yaml]\n"))
	}
	f.Fuzz(func(t *testing.T, name string, content, kustomization []byte) {
		defer soak.Input(t)()
		in := input()
		in.Files = tree.Files{name: content, "kustomization.yaml": kustomization}
		if CheckTree(in) != nil {
			return
		}
		// Accepted files are understood: each document stays in the claim's namespace.
		objects, err := decodeObjects(name, content)
		if err != nil && name != "kustomization.yaml" {
			t.Fatalf("CheckTree(...): accepted a file that cannot be decoded: %s", err)
		}
		for _, o := range objects {
			if o.GetNamespace() != "team-a" {
				t.Errorf("CheckTree(...): accepted namespace %q", o.GetNamespace())
			}
		}
	})
}
