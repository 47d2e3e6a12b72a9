package engines

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// TestSameRepository observes engines that read the repository by another URL than the configuration names. The commit that they report is what counts.
func TestSameRepository(t *testing.T) {
	const host = "https://git.example.org/o/fleet"
	cases := map[string]struct {
		reason       string
		config, read string
		shown        string
	}{
		"Same":           {reason: "A repository equals itself.", config: host, read: host, shown: host},
		"Suffix":         {reason: "The suffix .git is optional.", config: host, read: host + ".git", shown: host + ".git"},
		"HostCase":       {reason: "The case of a host means nothing.", config: host, read: "https://GIT.example.org/o/fleet/", shown: "https://GIT.example.org/o/fleet/"},
		"SSH":            {reason: "A server offers a repository over SSH too.", config: host, read: "ssh://git@git.example.org/o/fleet", shown: "ssh://git@git.example.org/o/fleet"},
		"SSHPort":        {reason: "An SSH server may have another port.", config: host, read: "ssh://git@git.example.org:2222/o/fleet", shown: "ssh://git@git.example.org:2222/o/fleet"},
		"SCP":            {reason: "The form of scp is another spelling of SSH.", config: host, read: "git@git.example.org:o/fleet.git", shown: "git@git.example.org:o/fleet.git"},
		"SCPConfig":      {reason: "The configuration may have the form of scp.", config: "git@git.example.org:o/fleet.git", read: host, shown: host},
		"SCPNoUser":      {reason: "Git takes the form of scp without a user.", config: host, read: "git.example.org:o/fleet", shown: "git.example.org:o/fleet"},
		"GitHubPort":     {reason: "GitHub offers SSH at ssh.github.com and port 443.", config: "https://github.com/o/fleet", read: "ssh://git@ssh.github.com:443/o/fleet.git", shown: "ssh://git@ssh.github.com:443/o/fleet.git"},
		"GitHubCase":     {reason: "GitHub ignores the case of a path.", config: "https://github.com/Org/Fleet", read: "https://github.com/org/fleet", shown: "https://github.com/org/fleet"},
		"AzureSSH":       {reason: "Azure DevOps writes v3 in SSH URLs and _git in HTTPS URLs.", config: "https://dev.azure.com/o/p/_git/fleet", read: "git@ssh.dev.azure.com:v3/o/p/fleet", shown: "git@ssh.dev.azure.com:v3/o/p/fleet"},
		"AzureOld":       {reason: "Azure DevOps answers at the older host of an organisation.", config: "https://dev.azure.com/o/p/_git/fleet", read: "https://o.visualstudio.com/p/_git/fleet", shown: "https://o.visualstudio.com/p/_git/fleet"},
		"AzureUser":      {reason: "Azure DevOps offers URLs with the organisation as the user, which is not shown.", config: "https://dev.azure.com/o/p/_git/fleet", read: "https://o@dev.azure.com/o/p/_git/fleet", shown: "https://dev.azure.com/o/p/_git/fleet"},
		"GitLabPath":     {reason: "A GitLab below a path has it in HTTPS URLs only.", config: "https://example.org/gitlab/o/fleet.git", read: "git@example.org:o/fleet.git", shown: "git@example.org:o/fleet.git"},
		"GitLabAltSSH":   {reason: "GitLab offers SSH at altssh.gitlab.com and port 443.", config: "https://gitlab.com/o/fleet", read: "ssh://git@altssh.gitlab.com:443/o/fleet.git", shown: "ssh://git@altssh.gitlab.com:443/o/fleet.git"},
		"BitbucketSCM":   {reason: "Bitbucket Data Center writes scm in HTTPS URLs and port 7999 in SSH URLs.", config: "https://git.example.org/scm/o/fleet.git", read: "ssh://git@git.example.org:7999/o/fleet.git", shown: "ssh://git@git.example.org:7999/o/fleet.git"},
		"GerritAuth":     {reason: "Gerrit writes /a/ where it asks for a password.", config: "https://git.example.org/a/fleet", read: "https://git.example.org/fleet", shown: "https://git.example.org/fleet"},
		"CodeCommitFIPS": {reason: "CodeCommit has a second host for each region.", config: "https://git-codecommit.us-east-1.amazonaws.com/v1/repos/fleet", read: "https://git-codecommit-fips.us-east-1.amazonaws.com/v1/repos/fleet", shown: "https://git-codecommit-fips.us-east-1.amazonaws.com/v1/repos/fleet"},
		"InCluster":      {reason: "An engine beside the server uses its name in the cluster.", config: host, read: "http://gitea-http.gitea.svc.cluster.local:3000/o/fleet", shown: "http://gitea-http.gitea.svc.cluster.local:3000/o/fleet"},
		"Address":        {reason: "A host may be written as an address.", config: host, read: "https://[2001:db8::1]/o/fleet", shown: "https://[2001:db8::1]/o/fleet"},
		"Alias":          {reason: "A host of the SSH configuration is an alias.", config: host, read: "git@fleet-alias:o/fleet", shown: "git@fleet-alias:o/fleet"},
		"Mirror":         {reason: "A mirror has the same commits.", config: host, read: "https://mirror.example.com/fleet.git", shown: "https://mirror.example.com/fleet.git"},
		"Token":          {reason: "A token in a URL is not shown.", config: host, read: "https://x:s3cret@git.example.org/o/fleet?t=s3cret#s3cret", shown: host},
		"SCPToken":       {reason: "A password of the form of scp is not shown.", config: host, read: "git:s3cret@git.example.org:o/fleet", shown: "git.example.org:o/fleet"},
		"SCPAt":          {reason: "A password of the form of scp may hold an @, and no part of it is shown.", config: host, read: "git:s3@cr@et@git.example.org:o/fleet", shown: "git.example.org:o/fleet"},
		"SCPMail":        {reason: "A user that is an address of mail may have a password too.", config: host, read: "me@example.org:s3cret@git.example.org:o/fleet", shown: "git.example.org:o/fleet"},
		"TokenAt":        {reason: "A password in a URL may hold an @.", config: host, read: "https://x:s3@cret@git.example.org/o/fleet", shown: host},
		"Empty":          {reason: "An engine that names no URL still reports a commit.", config: host},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := Want{URL: tc.config, Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
			read, err := json.Marshal(tc.read)
			if err != nil {
				t.Fatal(err)
			}
			main := `{"kind": "Kustomization", "metadata": {"name": "o", "namespace": "n", "generation": 1}, "spec": {"path": "clusters/edge1", "sourceRef": {"kind": "GitRepository", "name": "fleet"}},
				"status": {"observedGeneration": 1, "lastAppliedRevision": "main@sha1:0123456789abcdef0123456789abcdef01234567", "lastAttemptedRevision": "main@sha1:0123456789abcdef0123456789abcdef01234567",
				"conditions": [{"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "message": "", "observedGeneration": 1, "lastTransitionTime": "2026-11-01T12:00:00Z"}]}}`
			source := fmt.Sprintf(`{"kind": "GitRepository", "metadata": {"name": "fleet"}, "spec": {"url": %s, "ref": {"branch": "main"}}}`, read)
			got := Observe(catalogv1alpha1.EngineFlux, w, decodeJSONObject(t, json.RawMessage(main)), decodeJSONObject(t, json.RawMessage(source)))
			want := Observation{Commit: "0123456789abcdef0123456789abcdef01234567", URL: tc.shown}
			if diff := cmp.Diff(want, Observation{Reason: got.Reason, Message: got.Message, Commit: got.Commit, URL: got.URL}); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSourceOrder observes an Application with several sources of the same directory.
func TestSourceOrder(t *testing.T) {
	w := Want{URL: "https://git.example.org/o/fleet", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
	source := func(url, path string) argoSource {
		return argoSource{RepoURL: url, Path: path, TargetRevision: "main"}
	}
	recursive := source("git@git.example.org:o/fleet", w.SiteDir)
	recursive.Directory.Recurse = true
	cases := map[string]struct {
		reason  string
		sources []argoSource
		want    string
		message string
		folders bool
	}{
		"Ours":  {reason: "The source with our URL is proven.", sources: []argoSource{source("https://git.example.org/o/values", w.SiteDir), source("https://git.example.org/o/fleet.git", w.SiteDir)}, want: "https://git.example.org/o/fleet.git"},
		"Other": {reason: "Without a source with our URL the first source of the directory is proven.", sources: []argoSource{source("https://git.example.org/o/values", "values"), source("git@git.example.org:o/fleet", w.SiteDir)}, want: "git@git.example.org:o/fleet"},
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
			reason: "A source that leaves out the folders does not hide a later one that reads them.", folders: true,
			sources: []argoSource{source("https://git.example.org/o/fleet", w.SiteDir), recursive}, want: "git@git.example.org:o/fleet",
		},
		"Empty": {reason: "An Application without a source is named as such.", message: "it has no source"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := argoApplication{}
			a.Spec.Sources, w.HasFolders = tc.sources, tc.folders
			got, _, message := a.findSource(w)
			if diff := cmp.Diff([]string{tc.want, tc.message}, []string{got.source.RepoURL, message}); diff != "" {
				t.Errorf("\n%s\nfindSource(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
