package guard

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// reached is a file that every hostile Blueprint has: only the hostile part differs.
const reached = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: a-b}\n"

func TestCheckContained(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"Fine": {
			reason: "A kustomization that reads its own files is accepted.",
			files:  with("", nil),
		},
		"NoKustomization": {
			reason: "Without a kustomization there is nothing to build.",
			files:  map[string]string{"a.yaml": reached},
			want:   ".: must have one kustomization.yaml",
		},
		"TwoKustomizations": {
			reason: "A folder with two kustomizations is ambiguous and refused.",
			files:  with("", map[string]string{"Kustomization": "resources: []"}),
			want:   "must have one kustomization.yaml",
		},
		"RemoteBase": {
			reason: "A base in a remote repository is refused.",
			files:  with("resources: [github.com/org/repo]", nil), want: "is not a file or a folder of the Blueprint",
		},
		"RemoteURL": {
			reason: "A resource at a URL is refused.",
			files:  with("resources: ['https://example.org/a.yaml']", nil), want: "is not a file or a folder of the Blueprint",
		},
		"RemoteSSH": {
			reason: "A resource on an SSH server is refused.",
			files:  with("resources: ['git@example.org:a/b?ref=x']", nil), want: "is not a file or a folder of the Blueprint",
		},
		"RemoteFile": {
			reason: "A resource at a file URL is refused.",
			files:  with("resources: ['file:///etc']", nil), want: "is not a file or a folder of the Blueprint",
		},
		"RemoteComponent": {
			reason: "A component in a remote repository is refused.",
			files:  with("components: ['https://example.org/a.git//x']", nil), want: "is not a file or a folder of the Blueprint",
		},
		"RemotePatch": {
			reason: "A patch at a URL is refused.",
			files:  with("patches: [{path: 'https://example.org/p.yaml'}]", nil), want: "is not a file of the Blueprint",
		},
		"Absolute": {
			reason: "An absolute path outside of the Blueprint is refused.",
			files:  with("resources: [/etc/passwd]", nil), want: "is not a file or a folder of the Blueprint",
		},
		"Above": {
			reason: "A relative path outside of the Blueprint is refused.",
			files:  with("resources: [../../etc]", nil), want: "is not a file or a folder of the Blueprint",
		},
		"OurOverlay": {
			reason: "Our own overlay cannot be read.",
			files:  with("resources: [../namespace.yaml]", nil), want: "is not a file or a folder of the Blueprint",
		},
		"Itself": {
			reason: "A kustomization may not be a base of itself.",
			files:  with("resources: [../blueprint]", nil), want: "is not a file or a folder of the Blueprint",
		},
		"Backslash": {
			reason: "Backslashes in a resource are refused.",
			files:  with(`resources: ['..\..\etc']`, nil), want: "is not a file or a folder of the Blueprint",
		},
		"Encoded": {
			reason: "A path with encoded dots is refused.",
			files:  with("resources: ['%2e%2e/etc']", nil), want: "is not a file or a folder of the Blueprint",
		},
		"GeneratorFile": {
			reason: "Generators read the Blueprint's files only.",
			files:  with("configMapGenerator: [{name: g, files: ['passwd=/etc/passwd']}]", nil), want: "is not a file of the Blueprint",
		},
		"GeneratorEnv": {
			reason: "Generators read the Blueprint's files only.",
			files:  with("secretGenerator: [{name: g, envs: ['../../proc/self/environ']}]", nil), want: "is not a file of the Blueprint",
		},
		"Helm":          {reason: "A kustomization may not run Helm for charts.", files: with("helmCharts: [{name: x}]", nil), want: `"helmCharts": is not allowed`},
		"HelmOtherCase": {reason: "Whatever the case of its letters.", files: with("HelmCharts: [{name: x}]", nil), want: `"HelmCharts": is not allowed`},
		"HelmInflation": {
			reason: "A kustomization may not run Helm by the inflation generator.",
			files:  with("helmChartInflationGenerator: [{chartName: x}]", nil), want: "is not allowed",
		},
		"Generators": {reason: "A kustomization may not run generator plugins.", files: with("generators: [a.yaml]", nil), want: `"generators": is not allowed`},
		"Transformers": {
			reason: "A kustomization may not run transformer plugins.",
			files:  with("transformers: [a.yaml]", nil), want: `"transformers": is not allowed`,
		},
		"Validators": {reason: "A kustomization may not run validator plugins.", files: with("validators: [a.yaml]", nil), want: `"validators": is not allowed`},
		"OpenAPI": {
			reason: "Schemas of OpenAPI are refused, since the process would keep them.",
			files:  with("openapi: {path: a.yaml}", nil), want: `"openapi": is not allowed`,
		},
		"CRDs": {reason: "References between schemas can be endless.", files: with("crds: [a.yaml]", nil), want: `"crds": is not allowed`},
		"Vars": {
			reason: "The refusal of vars names replacements instead.",
			files:  with("vars: [{name: x}]", nil), want: "vars: is not allowed: use replacements instead",
		},
		"Duplicate": {reason: "A field that stands twice is refused.", files: with("resources: [a.yaml]\nresources: []", nil), want: "already"},
		"Unknown": {
			reason: "A field that kustomize does not know is refused.",
			files:  with("resource: [a.yaml]", nil),
			want:   `"resource": is not allowed in a Blueprint: use apiVersion, kind, metadata, resources, components, `,
		},
		"Cycle": {
			reason: "Bases that form a cycle are refused.",
			files:  with("resources: [b]", map[string]string{"b/kustomization.yaml": "resources: [../c]", "c/kustomization.yaml": "resources: [../b]"}),
			want:   "is a base of itself",
		},
		"Doubling": {reason: "Bases that are read twice are read 2^n times.", files: doubling(12), want: "kustomizations are read more than 64 times"},
		"AliasBomb": {
			reason: "Aliases that stand for too many values are refused.",
			files:  with("", map[string]string{"a.yaml": bomb()}), want: "has too many values",
		},
		"PatchBomb": {
			reason: "Aliases in a patch that stand for too many values are refused.",
			files:  with("patches: [{path: p.yaml}]", map[string]string{"p.yaml": bomb()}), want: "has too many values",
		},
		"TextBomb": {
			reason: "Aliases that stand for too much text are refused.",
			files: with("", map[string]string{
				"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ntext: &a " + strings.Repeat("x", 20_000) + "\nlist: [" + strings.Repeat("*a, ", 100) + "]\n",
			}),
			want: "a.yaml: aliases stand for more than 1 MiB",
		},
		"SelfAlias": {reason: "An anchor that holds itself has no end.", files: with("", map[string]string{"a.yaml": "a: &a [*a]"}), want: "has too many values"},
		"Deep": {
			reason: "YAML that nests too deep is refused.",
			files:  with("", map[string]string{"a.yaml": "a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)}), want: "nests too deep",
		},
		"NotYAML": {reason: "Files that are not YAML are named.", files: with("", map[string]string{"a.yaml": "a: [\n"}), want: "a.yaml: yaml: line"},
		"CopyPatch": {
			reason: "The operation copy is refused, since it can double an object with each patch.",
			files:  with("patches: [{target: {kind: ConfigMap}, patch: '[{op: copy, from: /data, path: /data/x}]'}]", nil),
			want:   "the operation copy is not allowed",
		},
		"CopyAlias": {
			reason: "A copy operation behind an alias is refused.",
			files: with(
				"patches: [{target: {kind: ConfigMap}, patch: \"[{op: add, path: /data/c, value: &c copy}, {op: *c, from: /data, path: /data/x}]\"}]",
				nil,
			),
			want: "the operation copy is not allowed",
		},
		"CopyMerge": {
			reason: "A copy operation behind a merge is refused.",
			files:  with("patches: [{target: {kind: ConfigMap}, patch: \"[&c {op: copy}, {<<: *c}]\"}]", nil),
			want:   "the operation copy is not allowed",
		},
		"NameChange": {
			reason: "A patch may not change the name of an object.",
			files:  with("patches: [{target: {kind: ConfigMap}, options: {allowNameChange: true}, patch: '{}'}]", nil), want: "allowNameChange",
		},
		"SelfReplacement": {
			reason: "A replacement of a part of an object by the whole doubles the object and is refused.",
			files: with(
				"replacements: [{source: {kind: ConfigMap, name: a, fieldPath: data}, targets: [{select: {kind: ConfigMap, name: a}, fieldPaths: "+
					"[data.x]}]}]",
				nil,
			),
			want: "may only give metadata.name or metadata.namespace",
		},
		"IntentReplacement": {
			reason: "A replacement of the intent's own values doubles them and is refused.",
			files: with(
				"replacements: [{source: {kind: ConfigMap, name: intent, fieldPath: data}, targets: [{select: {kind: ConfigMap, name: 'i.*'}, "+
					"fieldPaths: [data.x]}]}]",
				nil,
			),
			want: "must be selected by its name",
		},
		"AnyReplacement": {
			reason: "A replacement that may select any kind is refused.",
			files:  with("replacements: [{source: {kind: ConfigMap, name: intent, fieldPath: data}, targets: [{select: {name: intent}, fieldPaths: [data.x]}]}]", nil),
			want:   "each target must select one kind",
		},
		"ReplacementFile": {
			reason: "Replacements in files are looked at too.",
			files:  with("replacements: [{path: r.yaml}]", map[string]string{"r.yaml": "source: {kind: ConfigMap, name: a, fieldPath: data}\n"}),
			want:   "may only give metadata.name or metadata.namespace",
		},
		"Amplified": {
			reason: "Much that is done to many is too much.",
			files: with("commonAnnotations: {a: "+strings.Repeat("a", 60<<10)+"}", map[string]string{
				"a.yaml": strings.Repeat(reached+"---\n", 499),
			}),
			want: "are too much",
		},
		"ManyPatches": {
			reason: "Patches take a millisecond for each object.",
			files: with("patches:\n"+strings.Repeat("- {target: {kind: ConfigMap}, patch: '- {op: add, path: /data/y, value: z}'}\n", 30), map[string]string{
				"a.yaml": strings.Repeat(reached+"---\n", 499),
			}),
			want: "30 patches of 500 objects are too many",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(tc.files)
			files[IntentFile] = "{}"
			_, err := CheckContained(files)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("\n%s\nCheckContained(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// with returns a Blueprint with one object, more lines in its kustomization, and more files.
func with(lines string, files map[string]string) map[string]string {
	out := map[string]string{"a.yaml": reached, "kustomization.yaml": lines}
	if !strings.Contains(lines, "resources:") {
		out["kustomization.yaml"] = "resources: [intent.yaml, a.yaml]\n" + lines
	}
	maps.Copy(out, files)
	return out
}

// doubling returns a Blueprint in which each folder reads the next one twice.
func doubling(n int) map[string]string {
	out := with("resources: [p0, q0]", nil)
	for i := range n {
		for _, side := range []string{"p", "q"} {
			out[fmt.Sprintf("%s%d/kustomization.yaml", side, i)] = fmt.Sprintf("namePrefix: %s\nresources: [../p%d, ../q%d]", side, i+1, i+1)
		}
	}
	for _, side := range []string{"p", "q"} {
		out[fmt.Sprintf("%s%d/kustomization.yaml", side, n)] = "namePrefix: " + side + "\nresources: [a.yaml]"
		out[fmt.Sprintf("%s%d/a.yaml", side, n)] = reached
	}
	return out
}

// bomb returns an object of a few hundred bytes that stands for gigabytes.
func bomb() string {
	b := strings.Builder{}
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx0: &x0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i), 9), ", "))
	}
	return b.String()
}
