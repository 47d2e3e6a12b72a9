package manifest

import (
	"context"
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/tree"
)

func configMap(name string) []byte {
	return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: team-a}\n", name)
}

// encodeFiles returns the archive of files.
func encodeFiles(t *testing.T, files tree.Files) []byte {
	t.Helper()
	archive, err := tree.Encode(files)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func describeObjects(manifests []instruction.Manifest) []string {
	out := []string{}
	for _, m := range manifests {
		out = append(out, m.Object.String())
	}
	return out
}

func TestReadManifest(t *testing.T) {
	files := tree.Files{"a.yaml": configMap("a"), "blue/b.yaml": configMap("b")}
	objects := []string{"ConfigMap team-a/a", "ConfigMap team-a/b"}
	large, largeObjects := tree.Files{}, []string{}
	for i := range 100 {
		name := fmt.Sprintf("c%02d", i)
		large[name+".yaml"], largeObjects = configMap(name), append(largeObjects, "ConfigMap team-a/"+name)
	}
	cases := map[string]struct {
		reason    string
		limit     int
		files     tree.Files
		delivered [][]byte
		want      []string
		fetches   int
	}{
		"Delivered": {
			reason: "Files that a delivery has are not fetched.",
			limit:  maxBytes, files: files, delivered: [][]byte{encodeFiles(t, files)}, want: objects,
		},
		"Part": {
			reason: "An archive of another tree is not read: the files are fetched, once.",
			limit:  maxBytes, files: files, delivered: [][]byte{encodeFiles(t, tree.Files{"a.yaml": configMap("a")})}, want: objects, fetches: 1,
		},
		"Second": {
			reason: "The tree may be in a later archive than the first archive.",
			limit:  maxBytes, files: files, delivered: [][]byte{[]byte("junk"), encodeFiles(t, large), encodeFiles(t, files)}, want: objects,
		},
		"NotDecoded": {
			reason: "The files are fetched where an archive cannot be decoded.",
			limit:  maxBytes, files: files, delivered: [][]byte{[]byte("junk")}, want: objects, fetches: 1,
		},
		"FullCache": {
			reason: "Each object of a directory is returned although the cache is smaller than the directory.",
			limit:  4 << 10, files: large, delivered: [][]byte{encodeFiles(t, large)}, want: largeObjects,
		},
		"FullCacheFetched": {
			reason: "Each fetched object is returned although the cache holds none of them.",
			limit:  1, files: large, want: largeObjects, fetches: 2,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, fetches := readerWithLimit(tc.limit), 0
			d := Directory{Tenant: "team-a", Repository: "fleet", Tree: tree.ID(tc.files), Delivered: tc.delivered, Fetch: func(context.Context) (map[string][]byte, error) {
				fetches++
				return tc.files, nil
			}}
			for range 2 {
				manifests, err := r.Read(t.Context(), d)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, describeObjects(manifests)); diff != "" {
					t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
				}
			}
			if diff := cmp.Diff(tc.fetches, fetches); diff != "" {
				t.Errorf("\n%s\nfetches: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReadSharesNothing reads a directory after others with the same contents or the same tree, of which none may decide for it.
func TestReadSharesNothing(t *testing.T) {
	manifests, texts := tree.Files{"a.yaml": configMap("a")}, tree.Files{"a.txt": configMap("a")}
	cases := map[string]struct {
		reason   string
		previous tree.Files
		next     tree.Files
		other    string
		want     []string
		err      bool
	}{
		"SameTree": {reason: "A tree that was read needs no repository.", previous: manifests, next: manifests, other: "fleet", want: []string{"ConfigMap team-a/a"}},
		"OtherName": {
			reason:   "A file of text holds no object, so its entry does not count for a manifest with the same bytes.",
			previous: texts, next: manifests, other: "fleet", err: true,
		},
		"OtherRepository": {
			reason:   "A tree of one repository is not remembered for another repository.",
			previous: manifests, next: manifests, other: "another", err: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := NewReader()
			if _, err := r.Read(t.Context(), Directory{Tenant: "team-a", Repository: "fleet", Tree: tree.ID(tc.previous), Delivered: [][]byte{encodeFiles(t, tc.previous)}}); err != nil {
				t.Fatal(err)
			}
			got, err := r.Read(t.Context(), Directory{Tenant: "team-a", Repository: tc.other, Tree: tree.ID(tc.next), Fetch: func(context.Context) (map[string][]byte, error) {
				return nil, errors.New("down")
			}})
			if (err != nil) != tc.err {
				t.Fatalf("\n%s\nRead(...): error %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, describeObjects(got)); !tc.err && diff != "" {
				t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
