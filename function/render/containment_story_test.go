package render

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/function/render/guard"
	"github.com/intentplane/intentplane/test/soak"
)

// reached is a file that every hostile Blueprint has: only the hostile part differs.
const reached = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: a-b}\n"

func TestHostileBlueprints(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"Fine": {
			reason: "The harmless parts of hostile Blueprints build.",
			files:  with("", nil),
		},
		"Bases": {
			reason: "Folders, components, patches and generators of the Blueprint's own files are allowed.",
			files: with("components: [parts]\npatches: [{path: p.yaml}]\nconfigMapGenerator: [{name: g, files: [x=p.yaml], envs: [e.env]}]", map[string]string{
				"parts/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [../base]\n",
				"base/kustomization.yaml":  "resources: [b.yaml]\nnamePrefix: x-\n",
				"base/b.yaml":              strings.Replace(reached, "name: a", "name: b", 1),
				"p.yaml":                   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {y: b}\n",
				"e.env":                    "a=b\n",
			}),
		},
		"FolderLikeHost": {
			reason: "A folder that looks like the address of a Git server would be fetched from there.",
			files:  with("resources: [github.com/org/repo]", map[string]string{"github.com/org/repo/kustomization.yaml": "resources: []"}),
			want:   "must be a relative path",
		},
		"FileName": {
			reason: "A file's name may not lead out of its folder.",
			files:  with("", map[string]string{"../x.yaml": reached}), want: "must be a relative path",
		},
		"HiddenFile": {
			reason: "A hidden file in the Blueprint is refused.",
			files:  with("", map[string]string{".git/config": "x"}), want: "must be a relative path",
		},
		"FileIsFolder": {reason: "One name may not be a file and a folder.", files: with("", map[string]string{"a.yaml/b": "x"}), want: "must be a relative path"},
		"LargeFile": {
			reason: "A file that is too large is refused.",
			files:  with("", map[string]string{"b.yaml": strings.Repeat("#", 65<<10)}), want: "b.yaml: has 66560 bytes, more than 65536",
		},
		"OtherIntent": {
			reason: "The intent.yaml of a Blueprint has to be the ConfigMap of the intent.",
			files:  with("", map[string]string{"intent.yaml": strings.Replace(reached, "ConfigMap", "Secret", 1)}),
			want:   "intent.yaml: must be a v1 ConfigMap named intent",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := NewRenderer().Build(t.Context(), filesInput(tc.files))
			if !contains(err, tc.want) {
				t.Errorf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// FuzzBuild changes the kustomization, an object and a patch of a Blueprint.
func FuzzBuild(f *testing.F) {
	f.Add("resources: [intent.yaml, a.yaml]\npatches: [{path: p.yaml}]", reached, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	f.Add("resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]", reached, "[{op: add, path: /data, value: {}}]")
	f.Add("resources: [a.yaml]\nconfigurations: [p.yaml]", reached, "namePrefix: [{path: a/b, create: true}]")
	f.Add("resources: [a.yaml]\nreplacements: [{path: p.yaml}]", reached, "source: {kind: ConfigMap, name: a}\ntargets: [{select: {kind: ConfigMap, name: a}, fieldPaths: [a.[b=c].d]}]")
	f.Add("resources: [intent.yaml, a.yaml]\nconfigMapGenerator: [{name: g, files: [p.yaml], literals: [a=b]}]\nnamePrefix: x-\nnameSuffix: -y", reached, "a")
	f.Add("resources: [a.yaml]\nimages: [{name: nginx, newTag: '1'}]\nreplicas: [{name: a, count: 2}]\nlabels: [{pairs: {a: b}, includeSelectors: true}]",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: c, image: nginx}]}}}\n", "{}")
	r := NewRenderer()
	f.Fuzz(func(t *testing.T, kustomization, object, patch string) {
		defer soak.Input(t)()
		in := filesInput(map[string]string{"kustomization.yaml": kustomization, "a.yaml": object, "p.yaml": patch})
		files, err := r.Build(t.Context(), in)
		if err == nil && files.Validate() != nil {
			t.Errorf("Build(...) gave files that cannot be delivered: %v", files.Validate())
		}
	})
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

// bomb returns an object of a few hundred bytes that stands for gigabytes.
func bomb() string {
	b := strings.Builder{}
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx0: &x0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i), 9), ", "))
	}
	return b.String()
}

// TestContainment goes through the published vulnerabilities of this class of software that apply to a Blueprint or an intent.
// Each case has the identifier of its vulnerability. Cases with an empty want are harmless here, and stay text.
func TestContainment(t *testing.T) {
	const outside = "is not a file or a folder of the Blueprint"
	cases := map[string]struct {
		reason string
		files  map[string]string
		change func(*Input)
		want   string
	}{
		"CVE-2021-41254-Command": {
			reason: "A file name that a shell would execute is refused.",
			files:  with("", map[string]string{"a;$(id).yaml": reached}), want: "must be a relative path",
		},
		"CVE-2021-41254-Newline": {
			reason: "A file name with a line break is refused.",
			files:  with("", map[string]string{"a\nb.yaml": reached}), want: "must be a relative path",
		},
		"CVE-2021-41254-Key": {
			reason: "A key of a generated ConfigMap is a text.",
			files:  with("configMapGenerator: [{name: g, literals: ['$(id);=x']}]", nil),
		},
		"CVE-2022-36035": {
			reason: "A parameter that looks like options stays a value.",
			files: with(
				"replacements: [{source: {kind: ConfigMap, name: intent, fieldPath: data.param-x}, targets: [{select: {kind: ConfigMap, name: a}, "+
					"fieldPaths: [data.x]}]}]",
				nil,
			),
			change: func(in *Input) {
				in.Intent.Parameters = map[string]string{"x": "-o $(id); rm -rf /\n---\nkind: Secret"}
			},
		},
		"CVE-2022-24877-Parent": {
			reason: "A path that leads above the Blueprint is refused.",
			files:  with("resources: [../../../etc/passwd]", nil), want: outside,
		},
		"CVE-2022-24877-Absolute": {reason: "A resource is not read by its path from the root.", files: with("resources: [/etc/passwd]", nil), want: outside},
		"CVE-2022-24877-File":     {reason: "A resource is not read by a file URL.", files: with("resources: ['file:///etc/passwd']", nil), want: outside},
		"CVE-2022-24877-Encoded": {
			reason: "Escaped letters do not lead out of the Blueprint's files.",
			files:  with("resources: ['%2e%2e/%2e%2e/etc/passwd']", nil), want: outside,
		},
		"CVE-2022-24877-Windows": {
			reason: "Backslashes do not lead out of the Blueprint's files.",
			files:  with(`resources: ['..\..\etc\passwd', 'C:\etc']`, nil), want: outside,
		},
		"CVE-2022-24877-Patch": {
			reason: "A patch is not read from outside the Blueprint's files.",
			files:  with("patches: [{path: ../../../../proc/self/environ}]", nil), want: "is not a file of the Blueprint",
		},
		"CVE-2022-24877-Replace": {
			reason: "A replacement is not read from outside the Blueprint's files.",
			files:  with("replacements: [{path: /proc/self/environ}]", nil), want: "is not a file of the Blueprint",
		},
		"CVE-2022-24877-Component": {
			reason: "A component is not read from outside the Blueprint's files.",
			files:  with("components: [../../../etc]", nil), want: outside,
		},
		"CVE-2022-24877-Nested": {
			reason: "No way from a folder below.",
			files:  with("resources: [b]", map[string]string{"b/kustomization.yaml": "resources: [../../../../etc/passwd]"}), want: outside,
		},
		"CVE-2022-24878-Device": {
			reason: "An endless file is not read.",
			files:  with("configMapGenerator: [{name: g, files: [/dev/zero]}]", nil), want: "is not a file of the Blueprint",
		},
		"CVE-2022-24878-Bomb": {
			reason: "Aliases that stand for gigabytes are counted, not followed.",
			files:  with("", map[string]string{"a.yaml": bomb()}), want: "has too many values",
		},
		"CVE-2022-24878-Large": {
			reason: "A file that is too large is refused.",
			files:  with("", map[string]string{"b.bin": strings.Repeat("x", maxFileBytes+1)}), want: "more than 65536",
		},
		"CVE-2022-24348": {
			reason: "Values of charts from elsewhere: no charts at all.",
			files:  with("helmCharts: [{name: x, valuesFile: ../../values.yaml}]", nil), want: `"helmCharts": is not allowed`,
		},
		"CVE-2022-24904": {
			reason: "A link to elsewhere is a text here: files are texts.",
			files:  with("resources: [link]", map[string]string{"link": "../../../etc/passwd"}), want: "kustomize:",
		},
		"CVE-2022-31036": {
			reason: "A link that a generator reads is text, and gives only its own text.",
			files:  with("configMapGenerator: [{name: g, files: [link]}]", map[string]string{"link": "/etc/passwd"}),
		},
		"CVE-2022-24731": {
			reason: "Overrides beside the kustomization are not read.",
			files:  with("", map[string]string{".argocd-source.yaml": "kustomize: {}"}), want: "must be a relative path",
		},
		"CVE-2022-31016": {reason: "All files together are bounded.", files: with("", manyFiles(maxFiles, 32<<10)), want: "spec.files: ha"},
		"CVE-2023-40584": {
			reason: "A Blueprint with too many objects is refused.",
			files:  with("", map[string]string{"a.yaml": numbered(guard.MaxObjects)}), want: "objects are read, more than 500",
		},
		"CVE-2024-29893":          {reason: "The output of kustomize is bounded by its input.", files: amplified(), want: "are too much"},
		"CVE-2025-55191-NilPatch": {reason: "A patch of nothing is an error, not a crash.", files: with("patches: [{}]", nil), want: "kustomize:"},
		"CVE-2025-55198":          {reason: "YAML that made parsers panic is an error.", files: with("", map[string]string{"a.yaml": "? [\n"}), want: "a.yaml:"},
		"CVE-2025-32387": {
			reason: "YAML that nests too deep does not overflow the stack.",
			files:  with("", map[string]string{"a.yaml": "a: " + strings.Repeat("{a: ", 9000) + strings.Repeat("}", 9000)}), want: "nests too deep",
		},
		"CVE-2025-55199-Schema": {
			reason: "A schema that refers to itself has no end.",
			files:  with("", map[string]string{"crd.yaml": crd(`{type: object, properties: {a: {$ref: "#/properties/a"}}}`)}), want: "$ref is not allowed",
		},
		"CVE-2025-53547-Schema": {
			reason: "A schema of parameters that refers to itself is refused.",
			files:  with("", nil),
			change: func(in *Input) {
				in.Blueprint.Spec.ParametersSchema = raw(`{"properties": {"a": {"$ref": "#/properties/a"}}}`)
				in.Intent.Parameters = map[string]string{"a": "b"}
			},
			want: "spec.parametersSchema: cannot be used",
		},
		"CVE-2026-40090-Name": {
			reason: "A name of an object is never a path.",
			files:  with("", map[string]string{"a.yaml": strings.Replace(reached, "name: a", "name: ../../a", 1)}), want: "name is not valid",
		},
		"CVE-2026-29064": {
			reason: "A namespace that would be a path is refused.",
			files:  with("", map[string]string{"a.yaml": strings.Replace(reached, "name: a", "name: a, namespace: ../x", 1)}),
			want:   "namespace is not valid",
		},
		"CVE-2022-39383": {
			reason: "Addresses of the machine itself are not asked.",
			files:  with("resources: ['http://169.254.169.254/latest/meta-data']", nil), want: outside,
		},
		"GHSA-fmgp-q6jx-gg3x": {
			reason: "A base from a Git server is refused.",
			files:  with("resources: ['git::https://localhost/x.git//a?ref=main']", nil), want: outside,
		},
		"CVE-2026-32828": {
			reason: "No address is fetched, however it is written.",
			files:  with("resources: ['http://[::1]/a', '0x7f000001/a', 'a@b:c']", nil), want: outside,
		},
		"CVE-2023-27483-Index": {
			reason: "A large index fills no list.",
			files: with(
				"replacements: [{source: {kind: ConfigMap, name: intent, fieldPath: data.service}, targets: [{select: {kind: ConfigMap, name: a}, "+
					"fieldPaths: ['data.99999999.x'], options: {create: true}}]}]",
				nil,
			),
			want: "kustomize:",
		},
		"CVE-2023-27483-Length": {
			reason: "A long value is bounded before it is copied.",
			files:  with("", nil),
			change: func(in *Input) { in.Site.Parameters = map[string]string{"a": strings.Repeat("x", 10<<20)} }, want: "the intent's values have",
		},
		"CVE-2024-52284": {
			reason: "A generator does not read the environment of the process.",
			files:  with("secretGenerator: [{name: s, envs: [/proc/self/environ]}]", nil), want: "is not a file of the Blueprint",
		},
		"CVE-2025-47933": {reason: "An annotation stays a text.", files: with("commonAnnotations: {link: 'javascript:alert(1)'}", nil)},
		"Exec-Plugin": {
			reason: "Functions in containers or programs do not run: their annotation is a text.",
			files:  with("transformers: [p.yaml]", map[string]string{"p.yaml": plugin}), want: `"transformers": is not allowed`,
		},
		"Exec-Resource": {reason: "A plugin that is declared in an object is not run.", files: with("", map[string]string{"a.yaml": plugin})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := filesInput(maps.Clone(tc.files))
			if tc.change != nil {
				tc.change(&in)
			}
			_, err := NewRenderer().Build(t.Context(), in)
			if !contains(err, tc.want) {
				t.Errorf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.want, err)
			}
			if err != nil && len(err.Error()) > 2048 {
				t.Errorf("\n%s\nBuild(...): an error of %d bytes is too long", tc.reason, len(err.Error()))
			}
		})
	}
}

// TestContainmentMemory builds the largest input within the bounds.
func TestContainmentMemory(t *testing.T) {
	in := filesInput(with("", map[string]string{"a.yaml": numbered(guard.MaxObjects - 1)}))
	var baseline, final runtime.MemStats
	runtime.ReadMemStats(&baseline)
	if _, err := NewRenderer().Build(t.Context(), in); err != nil {
		t.Fatalf("Build(...): %v", err)
	}
	runtime.ReadMemStats(&final)
	if grown := int(final.Sys-baseline.Sys) >> 20; grown > 256 {
		t.Errorf("Build(...) of %d objects: the process grew by %d MiB", guard.MaxObjects-1, grown)
	}
}

const plugin = `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations:
    config.kubernetes.io/function: "exec: {path: /bin/true}\ncontainer: {image: example.org/x, network: true}\n"
`

func manyFiles(n, size int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("f%d.txt", i)] = strings.Repeat("x", size)
	}
	return out
}

func numbered(n int) string {
	all := make([]string, 0, n)
	for i := range n {
		all = append(all, strings.Replace(reached, "name: a", fmt.Sprintf("name: a%d", i), 1))
	}
	return strings.Join(all, "---\n")
}

func amplified() map[string]string {
	return with("commonAnnotations: {a: "+strings.Repeat("a", 60<<10)+"}", map[string]string{"a.yaml": numbered(guard.MaxObjects - 1)})
}

func crd(schema string) string {
	return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: x.org, scope: Cluster, names: {kind: Widget}, versions: [{name: v1, schema: {openAPIV3Schema: " + schema + "}}]}}"
}
