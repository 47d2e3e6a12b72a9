package live

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
	"github.com/intentplane/intentplane/test/gitserver"
)

// serveFiles returns a Git server whose repository fleet has files.
func serveFiles(t *testing.T, files map[string]string) *gitserver.Server {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), "fleet", files); err != nil {
		t.Fatal(err)
	}
	return s
}

// filesOfSample are the files that the trees of a sample carry, by their paths in the repository, with the markers of the directories.
func filesOfSample(t *testing.T, s *samples.Sample) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, siteTree := range s.Delivery.Spec.ForProvider.Trees {
		files, err := tree.Decode(siteTree.Files)
		if err != nil {
			t.Fatal(err)
		}
		out[siteTree.Path+"/"+tree.Marker] = "whose it is"
		for name, b := range files {
			out[siteTree.Path+"/"+name] = string(b)
		}
	}
	return out
}

// TestFilesOfRepository reads files that no GitDelivery carries.
func TestFilesOfRepository(t *testing.T) {
	s := cli.CarryFiles(t, examples, samples.Verified())
	git := serveFiles(t, filesOfSample(t, s))
	otherServer := serveFiles(t, map[string]string{"README.md": "Not ours."})
	trees := s.Delivery.Spec.ForProvider.Trees
	trees[0].Action, trees[0].Files = deliveryv1alpha1.ActionRestore, nil
	later, err := tree.Encode(tree.Files{"later.yaml": []byte("kind: ConfigMap")})
	if err != nil {
		t.Fatal(err)
	}
	trees[1].Action, trees[1].Files = deliveryv1alpha1.ActionKeep, later
	s.Delivery.Status.AtProvider.Remote = &deliveryv1alpha1.Remote{URL: git.URL("fleet"), Branch: "main"}
	catalog := []string{"--site=" + trialSites, "--blueprint=" + examples + "20-blueprint.yaml", "--config=" + examples + "30-config.yaml"}
	example, err := os.ReadFile(examples + "40-claim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(example), `"replicas": 2`, `"replicas": 5`, 1)
	cases := map[string]struct {
		reason string
		in     string
		args   []string
		code   int
		says   string
	}{
		"Checkout": {
			reason: "A clone has the restored trees, and the trees with action Keep.",
			args:   []string{"artifacts", "shop", "--checkout", git.Path("fleet")}, says: "kind: Deployment",
		},
		"Fetched": {reason: "The repository is fetched where the user asks for it.", args: []string{"artifacts", "shop", "--fetch"}, says: "kind: Deployment"},
		"Neither": {
			reason: "Without either the command names the action to take.",
			args:   []string{"artifacts", "shop"}, code: terminal.ExitInvalid, says: "--checkout, or say --fetch",
		},
		"Old": {
			reason: "A clone that does not have the directory is named.",
			args:   []string{"artifacts", "shop", "--checkout", otherServer.Path("fleet")}, code: terminal.ExitInvalid,
			says: "neither branch main nor the state of the clone has directory clusters/edge1/team-a/shop",
		},
		"NoClone": {
			reason: "A folder that is not a clone makes a wrong command line.",
			args:   []string{"artifacts", "shop", "--checkout", t.TempDir()}, code: terminal.ExitUsage, says: "cannot open a clone",
		},
		"Same": {
			reason: "A file is compared with the restored revision.",
			in:     string(example), args: slices.Concat([]string{"diff", "-", "--checkout", git.Path("fleet")}, catalog),
		},
		"Different": {
			reason: "The changes of a file to a restored revision are shown.",
			in:     changed, args: slices.Concat([]string{"diff", "-", "--fetch"}, catalog), code: terminal.ExitInvalid,
			says: "-  replicas: 2\n+  replicas: 5\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kubeconfig := cli.ServeSamples(t, &cli.Server{}, map[string]*samples.Sample{"team-a": s})
			out, problems, code := runIntent(tc.in, append(tc.args, "--kubeconfig", kubeconfig)...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) || strings.Contains(out, "later") {
				t.Errorf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.says, code, out, problems)
			}
		})
	}
}

// TestFilesThatStay reads the files of a Site with action Keep, such as a Site whose wave had not come when a revision was rejected.
func TestFilesThatStay(t *testing.T) {
	cases := map[string]struct {
		reason string
		isHeld bool
		want   string
	}{
		"Held":    {reason: "The files that the repository reported last are shown.", isHeld: true, want: "/deployment-"},
		"Nothing": {reason: "A Site that never received anything has no files.", want: ": receives nothing before its cluster is known to be ready"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := cli.CarryFiles(t, examples, samples.Verified())
			git := serveFiles(t, filesOfSample(t, s))
			siteTree := &s.Delivery.Spec.ForProvider.Trees[1]
			deliveredTree := deliveryv1alpha1.DeliveredTree{Site: siteTree.Site, Path: siteTree.Path, Tree: siteTree.Tree}
			siteTree.Action, siteTree.Tree, siteTree.Files, s.Delivery.Status.AtProvider.Trees = deliveryv1alpha1.ActionKeep, "", nil, nil
			if tc.isHeld {
				s.Delivery.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{deliveredTree}
			}
			kubeconfig := cli.ServeSamples(t, &cli.Server{}, map[string]*samples.Sample{"team-a": s})
			out, problems, code := runIntent("", "artifacts", "shop", "--checkout", git.Path("fleet"), "--kubeconfig", kubeconfig)
			if want := "# Site " + deliveredTree.Site + ": " + deliveredTree.Path + tc.want; code != 0 || !strings.Contains(out, want) {
				t.Errorf("\n%s\nrun(artifacts): want %q, got %d:\n%s%s", tc.reason, want, code, out, problems)
			}
		})
	}
}

// canaryInstalled is a deployment whose revision 7 has a fifth of the requests in track green at its first Site, beside revision 6 in track blue.
func canaryInstalled(t *testing.T, file string, catalog []string) (*samples.Sample, map[string]string) {
	t.Helper()
	c, err := rendering.Compile(&manifest.DeploymentFlags{File: file, CatalogFlags: manifest.CatalogFlags{Site: []string{catalog[1]}, Blueprint: []string{catalog[3]}}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	stable, err := c.RenderFiles()
	if err != nil {
		t.Fatal(err)
	}
	c.PlaceIn("green")
	newest, err := c.RenderFiles()
	if err != nil {
		t.Fatal(err)
	}
	s, repository := samples.Verified(), map[string]string{}
	s.Facts()
	trees := s.Delivery.Spec.ForProvider.Trees
	for i := range trees {
		blue := tree.Files{}
		for name, b := range stable[i].Files {
			if rest, ok := strings.CutPrefix(name, "blue/"); ok {
				blue[rest] = b
				repository[stable[i].Path+"/"+name] = string(b)
			}
		}
		carried, err := track.At(newest[i].Files, track.State{Serving: track.Blue, Weight: 20, Ahead: 50})
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := tree.Encode(carried)
		if err != nil || len(blue) == 0 {
			t.Fatalf("track blue has %d files: %v", len(blue), err)
		}
		id, err := tree.GraftedID(carried, map[string]string{"blue": tree.ID(blue)})
		if err != nil {
			t.Fatal(err)
		}
		trees[i].Path, trees[i].Files, trees[i].Tree = stable[i].Path, encoded, id
		trees[i].Parts = []deliveryv1alpha1.TreePart{{Path: "blue", Tree: tree.ID(blue), Revision: 6}}
		trees[i].Tracks = []deliveryv1alpha1.TreeTrack{{Name: "blue", Revision: 6, Weight: 80}, {Name: "green", Revision: 7, Weight: 20}}
	}
	return s, repository
}

// firstCanary returns the path of a file that has the first canary of the examples, with the name of the sample.
func firstCanary(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../../examples/delivery/canary.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(b), "---\n")
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(first, "shop-canary", "shop")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDiffInCanary compares a file with the newer of two revisions that share the requests.
func TestDiffInCanary(t *testing.T) {
	catalog := cli.CanaryCatalog(t, examples, blueprints)
	file := firstCanary(t)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first := string(b)
	s, repository := canaryInstalled(t, file, catalog)
	git := serveFiles(t, repository)
	kubeconfig := cli.ServeSamples(t, &cli.Server{}, map[string]*samples.Sample{"team-a": s})
	catalog = append(catalog, "--kubeconfig", kubeconfig)
	out, problems, code := runIntent(first, append([]string{"diff", "-"}, catalog...)...)
	if code != 0 || out != "" {
		t.Errorf("A file that is the newest revision changes nothing, whatever share of the requests that has: exit code %d:\n%s%s", code, out, problems)
	}
	out, problems, code = runIntent(strings.Replace(first, "replicas: 4", "replicas: 8", 1), append([]string{"diff", "-"}, catalog...)...)
	if code != terminal.ExitInvalid || !strings.Contains(out, "/green/") || strings.Contains(out, "/blue/") {
		t.Errorf("A changed file changes the folder of the newest revision alone: exit code %d:\n%s%s", code, out, problems)
	}
	target := filepath.Join(t.TempDir(), "files")
	if out, problems, code := runIntent("", "artifacts", "shop", "--to", target, "--checkout", git.Path("fleet"), "--kubeconfig", kubeconfig); code != 0 {
		t.Fatalf("artifacts --checkout: exit code %d:\n%s%s", code, out, problems)
	}
	folders := []string{}
	for _, folder := range []string{"blue", "green", "shared"} {
		if all, err := filepath.Glob(filepath.Join(target, "edge1", folder, "*.yaml")); err == nil && len(all) > 0 {
			folders = append(folders, folder)
		}
	}
	if diff := cmp.Diff([]string{"blue", "green", "shared"}, folders); diff != "" {
		t.Errorf("The files of a Site are the files of both tracks and the shared files: -want, +got:\n%s", diff)
	}
}

// TestTreeOfParts reads a directory whose folders are in the repository, with or without files beside them.
func TestTreeOfParts(t *testing.T) {
	catalog := cli.CanaryCatalog(t, examples, blueprints)
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.Tree)
		code   int
		says   string
	}{
		"Alone": {
			reason: "A directory that has nothing but such folders is shown.",
			change: func(siteTree *deliveryv1alpha1.Tree) { siteTree.Files, siteTree.Tree = nil, "" }, says: "/blue/",
		},
		"Others": {
			reason: "Files of another tree are not shown as files of the tree.",
			change: func(siteTree *deliveryv1alpha1.Tree) { siteTree.Tree = strings.Repeat("1", 40) }, code: terminal.ExitInvalid, says: "have other files of directory",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, repository := canaryInstalled(t, firstCanary(t), catalog)
			git := serveFiles(t, repository)
			trees := s.Delivery.Spec.ForProvider.Trees
			for i := range trees {
				tc.change(&trees[i])
			}
			kubeconfig := cli.ServeSamples(t, &cli.Server{}, map[string]*samples.Sample{"team-a": s})
			out, problems, code := runIntent("", "artifacts", "shop", "--checkout", git.Path("fleet"), "--kubeconfig", kubeconfig)
			if code != tc.code || !strings.Contains(out+problems, tc.says) {
				t.Errorf("\n%s\nrun(artifacts): want %d and %q, got %d:\n%s%s", tc.reason, tc.code, tc.says, code, out, problems)
			}
		})
	}
}
