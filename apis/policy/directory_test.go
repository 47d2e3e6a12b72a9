package policy

import (
	"maps"
	"testing"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// TestCheckTreeTracks checks directories with the folders of tracks.
func TestCheckTreeTracks(t *testing.T) {
	tracked := func(change func(tree.Files)) func(*Input) {
		return func(in *Input) {
			f := tree.Files{"kustomization.yaml": []byte("resources: [blue, green, shared]\n")}
			for _, folder := range []string{"blue", "green", "shared"} {
				f[folder+"/kustomization.yaml"], f[folder+"/a.yaml"] = []byte("resources: [a.yaml]\n"), []byte(configMap)
			}
			change(f)
			in.Files = f
		}
	}
	set := func(name, content string) func(*Input) {
		return tracked(func(f tree.Files) { f[name] = []byte(content) })
	}
	manifests := func(change func(*Input)) func(*Input) {
		return func(in *Input) {
			change(in)
			in.Site.Spec.Repository.Layout, in.Layout = catalogv1alpha1.LayoutManifests, catalogv1alpha1.LayoutManifests
		}
	}
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n"
	runCheckTree(t, map[string]checkCase{
		"Both": {reason: "A directory may hold the folders of both tracks and of the shared objects.", change: tracked(func(tree.Files) {})},
		"Alone": {reason: "A single track has only the folder of the shared objects beside it.", change: tracked(func(f tree.Files) {
			delete(f, "green/a.yaml")
			delete(f, "green/kustomization.yaml")
			f["kustomization.yaml"] = []byte("resources: [blue, shared]\n")
		})},
		"Objects": {reason: "The objects in the folder of a track are checked like others.", change: set("green/a.yaml", role), want: "clusterScoped"},
		"Unlisted": {
			reason: "A folder that the kustomization leaves out is refused.",
			change: set("kustomization.yaml", "resources: [blue, shared]\n"), want: "the folders of its tracks",
		},
		"Absent": {
			reason: "A kustomization that lists a folder which is not there is refused.",
			change: tracked(func(f tree.Files) { maps.DeleteFunc(f, func(name string, _ []byte) bool { return name[0] == 'g' }) }),
			want:   "the folders of its tracks",
		},
		"ExtraFile": {
			reason: "A file that the kustomization of its folder does not list is refused.",
			change: set("blue/b.yaml", configMap), want: "resources of blue/kustomization.yaml",
		},
		"Remote": {
			reason: "The kustomization of a folder reads nothing from elsewhere.",
			change: set("blue/kustomization.yaml", "resources: [a.yaml, ../green]\n"), want: "resources of blue/kustomization.yaml",
		},
		"Patches": {
			reason: "The kustomization of a folder changes nothing.",
			change: set("blue/kustomization.yaml", "resources: [a.yaml]\npatches: [{patch: x}]\n"), want: "may only hold",
		},
		"Unkustomized": {
			reason: "A folder without a kustomization cannot be built.",
			change: tracked(func(f tree.Files) { delete(f, "blue/kustomization.yaml") }), want: "blue/kustomization.yaml is missing",
		},
		"Beside": {reason: "A directory with tracks has no file beside their folders.", change: set("a.yaml", configMap), want: "no files beside its folders"},
		"OtherFolder": {
			reason: "A folder that is not that of a track is refused, whatever it holds.",
			change: set("x/kustomization.yaml", "resources: []\n"), want: "x is not the folder of a track",
		},
		"Deeper": {
			reason: "A folder has no folders.",
			change: set("blue/x/kustomization.yaml", "resources: []\n"), want: "blue/x is not the folder of a track",
		},
		"SecondName": {reason: "A folder has no kustomization of another name.", change: set("blue/Kustomization", "resources: []\n"), want: "only flat files"},
		"Manifests": {reason: "A directory for engines that read everything has no kustomization in its folders.", change: manifests(tracked(func(f tree.Files) {
			maps.DeleteFunc(f, func(name string, _ []byte) bool {
				return isKustomization(name[max(0, len(name)-len(kustomizationRef)):])
			})
		}))},
		"ManifestsWithKust": {
			reason: "An engine that reads everything would read a kustomization as an object.",
			change: manifests(tracked(func(f tree.Files) { delete(f, "kustomization.yaml") })), want: "only flat files",
		},
		"ManifestsBeside": {reason: "Where engines read everything, a directory with tracks has no file beside their folders either.", change: manifests(tracked(func(f tree.Files) {
			maps.DeleteFunc(f, func(name string, _ []byte) bool {
				return isKustomization(name[max(0, len(name)-len(kustomizationRef)):])
			})
			f["a.yaml"] = []byte(configMap)
		})), want: "no files beside its folders"},
	})
}
