package policy

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/schema"
	"github.com/intentplane/intentplane/apis/tree"
)

const (
	enc  = "ENC[AES256_GCM,data:Zm9v,iv:YWJj,tag:ZGVm,type:str]"
	sops = "sops: {mac: '" + enc + "', lastmodified: '2026-01-01T00:00:00Z', age: [{recipient: age1, enc: x}], version: 3.9.0}\n"
)

func files(f tree.Files) func(*Input) { return func(in *Input) { in.Files = f } }

func secret(rest string) func(*Input) {
	return files(with("apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: team-a}\n" + rest))
}

func TestCheckTreeSecrets(t *testing.T) {
	runCheckTree(t, map[string]checkCase{
		"Encrypted": {reason: "A Secret that SOPS encrypted passes.", change: secret("data: {a: '" + enc + "'}\nstringData: {b: '" + enc + "', c: ''}\n" + sops)},
		"Plain":     {reason: "The rest is readable to everybody.", change: secret("stringData: {a: hunter2}\n"), want: "allows Secrets in Git, and SOPS did not"},
		"HalfEncrypted": {
			reason: "One value that was left out is named, not shown.",
			change: secret("data: {a: '" + enc + "', b: aHVudGVyMg==}\n" + sops), want: `a.yaml: Secret "a": data.b: is not encrypted`,
		},
		"Pretended": {
			reason: "A block without SOPS' seal says nothing.",
			change: secret("data: {a: '" + enc + "'}\nsops: {version: 3.9.0}\n"), want: "sops.mac: is missing",
		},
		"NotABlock": {reason: "A sops block that is a word is refused.", change: secret("data: {a: '" + enc + "'}\nsops: true\n"), want: "sops.mac: is missing"},
		"Prefix": {
			reason: "A value that begins like an encrypted one is not one.",
			change: secret("data: {a: 'ENC[AES256_GCM] hunter2'}\n" + sops), want: "data.a: is not encrypted",
		},
		"LastApplied": {
			reason: "The annotation of kubectl apply holds the Secret as it was before it was encrypted.",
			change: files(with("apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: team-a, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"stringData\":{\"a\":\"hunter2\"}}'}}\n" +
				"data: {a: '" + enc + "'}\n" + sops)),
			want: `a.yaml: Secret "a": metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]: may hold in plain text the values that other fields encrypt`,
		},
		"Nested": {
			reason: "A value that is a map is refused as not encrypted.",
			change: secret("stringData: {a: {b: hunter2}}\n" + sops), want: "stringData.a: is not encrypted",
		},
		"List": {reason: "Data that is a list is refused as not encrypted.", change: secret("data: [hunter2]\n" + sops), want: "data: is not encrypted"},
		"SealedSecret": {
			reason: "Kinds that hold no readable Secret are allowed as any other is.",
			change: func(in *Input) {
				in.Config.Policy.AllowedKinds = named("bitnami.com", "SealedSecret")
				in.Files = object("bitnami.com/v1alpha1", "SealedSecret", ", namespace: team-a")
			},
		},
		"ExternalSecret": {
			reason: "A kind of a secret operator is refused unless the list names it.",
			change: func(in *Input) { in.Files = object("external-secrets.io/v1", "ExternalSecret", ", namespace: team-a") },
			want:   "allowedKinds does not name this kind",
		},
		"AllowedIsStillChecked": {
			reason: "A Secret that may be plain has to be well-formed, and its values stay out of messages.",
			change: func(in *Input) {
				in.Config.Policy.PlainSecrets = configv1alpha1.PlainSecretsAllow
				secret("data: {a: hunter2!}\n")(in)
			},
			want: `Secret "a": data.a: must be of type byte`,
		},
	})
}

func TestCheckTreeStructure(t *testing.T) {
	cases := map[string]checkCase{
		"Named": {
			reason: "Site, file, object and field are named.",
			change: files(with("apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: team-a}\nspec: {ports: [{prot: 80}]}\n")),
			want:   `Site "edge1": a.yaml: Service "a": spec.ports[0].port: is required; spec.ports[0].prot: is not a field of this kind`,
		},
		"UnknownAllowed": {
			reason: "A Kubernetes that is newer than we are has more fields.",
			change: func(in *Input) {
				in.Config.Policy.UnknownFields = configv1alpha1.UnknownFieldsAllow
				in.Files = with("apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: team-a}\nspec: {ports: [{port: 80, prot: 80}], newer: {a: b}}\n")
			},
		},
		"UnknownAllowedByTenant": {
			reason: "A namespace's own configuration only narrows.",
			change: func(in *Input) {
				in.ConfigKind = KindProviderConfig
				in.Config.Policy.UnknownFields = configv1alpha1.UnknownFieldsAllow
				in.Files = with("apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: team-a}\nspec: {ports: [{port: 80, prot: 80}]}\n")
			},
			want: `Service "a": spec.ports[0].prot: is not a field of this kind`,
		},
		"KnownStillChecked": {
			reason: "A known field with a wrong value is still refused.",
			change: func(in *Input) {
				in.Config.Policy.UnknownFields = configv1alpha1.UnknownFieldsAllow
				in.Files = with("apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: team-a}\nspec: {ports: [{port: http, prot: 80}]}\n")
			},
			want: `Service "a": spec.ports[0].port: must be of type integer: "string"`,
		},
		"OwnStillStrict": {
			reason: "A definition that comes with its objects is as new as they are.",
			change: func(in *Input) {
				in.Definitions, _ = schema.Definitions([]byte(`{spec: {group: x.org, scope: Namespaced, names: {kind: Thing}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}]}}`))
				in.Config.Policy.AllowedKinds, in.Config.Policy.UnknownFields = named("x.org", "Thing"), configv1alpha1.UnknownFieldsAllow
				in.Files = with("apiVersion: x.org/v1\nkind: Thing\nmetadata: {name: a, namespace: team-a}\nsise: 3\n")
			},
			want: `Thing.x.org "a": sise: is not a field of this kind`,
		},
		"Custom": {
			reason: "Definitions count where they are given.",
			change: func(in *Input) {
				in.Definitions, _ = schema.Definitions([]byte(`{spec: {group: x.org, scope: Namespaced, names: {kind: Thing}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}]}}`))
				in.Config.Policy.AllowedKinds = named("x.org", "Thing")
				in.Files = with("apiVersion: x.org/v1\nkind: Thing\nmetadata: {name: a, namespace: team-a}\nsize: big\n")
			},
			want: `Thing.x.org "a": size: must be of type integer: "string"`,
		},
	}
	runCheckTree(t, cases)
	in := input()
	cases["Named"].change(&in)
	if e := (&InvalidError{}); !errors.As(CheckTree(in), &e) {
		t.Errorf("CheckTree(...): want an InvalidError, got %v", CheckTree(in))
	}
}

func TestCheckTreeDefinedScope(t *testing.T) {
	thing := func(scope string) func(*Input) {
		return func(in *Input) {
			in.Definitions, _ = schema.Definitions([]byte(`{spec: {group: x.org, scope: ` + scope + `, names: {kind: Thing}}}`))
			in.Config.Policy.AllowedKinds = named("x.org", "Thing")
			in.Files = object("x.org/v1", "Thing", ", namespace: team-a")
		}
	}
	runCheckTree(t, map[string]checkCase{
		"Cluster":    {reason: "A namespace does not hide that a kind has none.", change: thing("Cluster"), want: "clusterScoped does not allow"},
		"Namespaced": {reason: "A namespaced object is checked as such.", change: thing("Namespaced")},
	})
}

// TestCheckTreeDuplicates has files with one key twice in a list, before and after they run.
func TestCheckTreeDuplicates(t *testing.T) {
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: team-a}\nspec: {ports: [{name: p, port: 80}, {name: q, port: 80}]}\n"
	runCheckTree(t, map[string]checkCase{
		"Rendered": {
			reason: "Server-side apply would refuse the rendered object.",
			change: files(with(service)), want: "spec.ports[1]: has the port and protocol of item 0",
		},
		"Running": {
			reason: "An object that an engine with client-side apply runs already can be restored.",
			change: func(in *Input) { in.Files, in.AllowsDuplicates = with(service), true },
		},
	})
}
