package engines

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestSourceOrder observes an Application with several sources of the same directory.
func TestSourceOrder(t *testing.T) {
	w := Want{URL: "https://git.example.org/o/fleet", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
	const ambiguous = "several of its sources read the branch and the directory, and none has the URL of the Site's repository: write it in the right one as the configuration does"
	source := func(url, path string) argoSource {
		return argoSource{RepoURL: url, Path: path, TargetRevision: "main"}
	}
	recursive := source("git@git.example.org:o/fleet", w.SiteDir)
	recursive.Directory.Recurse = true
	jsonnet := source(w.URL, w.SiteDir)
	jsonnet.Directory.Jsonnet = map[string]any{"extVars": []any{}}
	cases := map[string]struct {
		reason  string
		sources []argoSource
		want    string
		message string
		folders bool
	}{
		"Ours": {
			reason:  "The source with our URL is proven.",
			sources: []argoSource{source("https://git.example.org/o/values", w.SiteDir), source("https://git.example.org/o/fleet.git", w.SiteDir)},
			want:    "https://git.example.org/o/fleet.git",
		},
		"Other": {
			reason:  "Without a source with our URL the first source of the directory is proven.",
			sources: []argoSource{source("https://git.example.org/o/values", "values"), source("git@git.example.org:o/fleet", w.SiteDir)},
			want:    "git@git.example.org:o/fleet",
		},
		"None": {
			reason:  "Where no source matches, the message is about the source with our URL.",
			sources: []argoSource{source("https://git.example.org/o/values", "values"), source("https://git.example.org/o/fleet", "clusters/edge2"), {Chart: "base"}},
			message: `none of its sources is the Site's: it reads directory "clusters/edge2", which is neither the Site's "clusters/edge1" nor one in it that holds "clusters/edge1/team-a/web"`,
		},
		"Single": {
			reason: "The message about the only source names its directory alone.", sources: []argoSource{source("https://git.example.org/o/fleet", "clusters/edge2")},
			message: `it reads directory "clusters/edge2", which is neither the Site's "clusters/edge1" nor one in it that holds "clusters/edge1/team-a/web"`,
		},
		"Shallow": {
			reason: "A source that leaves out the folders does not hide a later source that reads them.", folders: true,
			sources: []argoSource{source("https://git.example.org/o/fleet", w.SiteDir), recursive}, want: "git@git.example.org:o/fleet",
		},
		"Named": {
			reason:  "A source with the name of our repository goes before a source with another name.",
			sources: []argoSource{source("https://git.example.org/o/values", w.SiteDir), source("https://mirror.example.com/Fleet.git", w.SiteDir)},
			want:    "https://mirror.example.com/Fleet.git",
		},
		"NamedAndOurs": {
			reason:  "A source with our URL goes before a source with the name of our repository.",
			sources: []argoSource{source("https://git.example.org/fork/fleet", w.SiteDir), source("https://GIT.example.org/o/fleet.git", w.SiteDir)},
			want:    "https://GIT.example.org/o/fleet.git",
		},
		"TwoOthers": {
			reason:  "Which of two sources with other URLs is ours cannot be known.",
			sources: []argoSource{source("https://git.example.org/o/values", w.SiteDir), source("https://git.example.org/o/apps", w.SiteDir)}, message: ambiguous,
		},
		"TwoNamed": {
			reason:  "Which of two sources with the name of our repository is ours cannot be known.",
			sources: []argoSource{source("https://git.example.org/fork/fleet", w.SiteDir), source("https://mirror.example.com/fleet", w.SiteDir)}, message: ambiguous,
		},
		"OneRepository": {
			reason:  "Two sources of one repository have its commits.",
			sources: []argoSource{source("https://mirror.example.com/fleet", w.SiteDir), source("https://mirror.example.com/fleet.git", w.ClaimDir)},
			want:    "https://mirror.example.com/fleet",
		},
		"OtherBranch": {
			reason: "A source of another branch does not count.",
			sources: []argoSource{
				{RepoURL: "https://git.example.org/o/values", Path: w.SiteDir, TargetRevision: "next"},
				source("https://git.example.org/o/apps", w.SiteDir),
			},
			want: "https://git.example.org/o/apps",
		},
		"Ref": {
			reason: "A source with a ref alone applies no file.", want: "https://git.example.org/o/apps",
			sources: []argoSource{
				{RepoURL: "https://git.example.org/o/values", Ref: "values", TargetRevision: "main"},
				source("https://git.example.org/o/apps", w.SiteDir),
			},
		},
		"RefOnly": {
			reason:  "A message about a source with a ref alone says that it has no path.",
			sources: []argoSource{{RepoURL: "https://git.example.org/o/fleet", Ref: "values", TargetRevision: "main"}},
			message: "it has a ref and no path, so it applies no file",
		},
		"Rendered": {
			reason: "A source that Helm renders is not provable, although a second source would be.", message: "its source is rendered by Helm, so that it applies other objects than the files have",
			sources: []argoSource{
				{RepoURL: w.URL, Path: w.SiteDir, TargetRevision: "main", Helm: map[string]any{"releaseName": "a"}},
				source("https://git.example.org/o/apps", w.SiteDir),
			},
		},
		"Jsonnet": {
			reason: "The message names the tool that renders the source.", message: "its source is rendered by Jsonnet, so that it applies other objects than the files have",
			sources: []argoSource{jsonnet},
		},
		"Chart": {
			reason:  "A chart has a version in the place of a branch.",
			message: `its source is chart "base", which names no commit: name a directory of a Git repository`,
			sources: []argoSource{{RepoURL: "https://charts.example.org", Chart: "base", TargetRevision: "1.2.3"}},
		},
		"Artifact": {
			reason:  "An artifact has a tag in the place of a branch.",
			message: "its source is an OCI artifact, which names no commit: name a directory of a Git repository",
			sources: []argoSource{{RepoURL: "oci://registry.example.org/fleet", Path: w.SiteDir, TargetRevision: "1.2.3"}},
		},
		"Empty": {reason: "An Application without a source is named as such.", message: "it has no source"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := argoApplication{}
			a.Spec.Sources, w.HasFolders = tc.sources, tc.folders
			got, _, message := a.findSiteSource(w)
			if diff := cmp.Diff([]string{tc.want, tc.message}, []string{got.source.RepoURL, message}); diff != "" {
				t.Errorf("\n%s\nfindSource(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoWatchedPaths observes an Application of a Site's directory, with a list of the paths that make Argo CD render it again.
func TestArgoWatchedPaths(t *testing.T) {
	const unwatched = `annotation argocd.argoproj.io/manifest-generate-paths lists no directory that holds "clusters/edge1/team-a/web", so Argo CD may report a commit that it did not render: add /clusters/edge1/team-a/web, or remove the annotation`
	cases := map[string]struct {
		reason, paths string
		isWatched     bool
	}{
		"Dot":            {reason: "A dot is the directory of the source.", paths: ".", isWatched: true},
		"Relative":       {reason: "A relative path is below the directory of the source.", paths: "team-a", isWatched: true},
		"Claim":          {reason: "The claim's directory itself may be listed.", paths: "team-a/web", isWatched: true},
		"Absolute":       {reason: "A path with a slash in front begins at the root of the repository.", paths: "/clusters/edge1", isWatched: true},
		"Root":           {reason: "The root holds all directories.", paths: "/", isWatched: true},
		"Slash":          {reason: "A slash at the end changes nothing.", paths: "/clusters/edge1/team-a/", isWatched: true},
		"Parent":         {reason: "A relative path may lead to a directory above.", paths: "../..", isWatched: true},
		"Later":          {reason: "One path of several is enough.", paths: "/charts;/clusters/edge1/team-a", isWatched: true},
		"EmptyItems":     {reason: "Empty items of the list are left out.", paths: ";;.;", isWatched: true},
		"Nothing":        {reason: "A list of empty items has no effect.", paths: ";", isWatched: true},
		"Empty":          {reason: "An empty annotation has no effect.", paths: "", isWatched: true},
		"OtherClaim":     {reason: "The directory of another claim does not contain the claim's directory.", paths: "team-a/api"},
		"OtherNamespace": {reason: "A directory whose name begins alike is another directory.", paths: "/clusters/edge1/team-a/we"},
		"Charts":         {reason: "A directory elsewhere does not hold the claim's.", paths: "/charts"},
		"RootRelative":   {reason: "A path without a slash in front does not begin at the root.", paths: "clusters/edge1"},
		"File":           {reason: "A file of the directory is not the whole directory.", paths: "team-a/web/deployment.yaml"},
		"Folder":         {reason: "A folder of the directory is not the whole directory.", paths: "/clusters/edge1/team-a/web/blue"},
		"Pattern":        {reason: "A pattern watches the files of one folder, and not of the folders below.", paths: "/clusters/edge1/team-a/*"},
		"Several":        {reason: "Several paths may all miss the directory.", paths: "/charts;team-a/api;../edge2"},
		"Blank":          {reason: "Argo CD does not trim an item.", paths: " /clusters/edge1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			main := decodeJSONObject(t, syncedApplication("clusters/edge1", `{"recurse": true}`))
			main.SetAnnotations(map[string]string{argoPathsKey: tc.paths})
			got := observeEngine(catalogv1alpha1.EngineArgoCD, Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}, main, nil)
			want := [2]string{}
			if !tc.isWatched {
				want = [2]string{v1alpha1.SiteReasonEngineNotProvable, unwatched}
			}
			if diff := cmp.Diff(want, [2]string{got.Reason, got.Message}); diff != "" {
				t.Errorf("\n%s\nobserveEngine(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
