package engines

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// TestSameRepository observes engines that read the repository by another URL than the URL of the configuration. The reported commit counts.
func TestSameRepository(t *testing.T) {
	const host = "https://git.example.org/o/fleet"
	cases := map[string]struct {
		reason       string
		config, read string
		shown        string
	}{
		"Same":   {reason: "A repository equals itself.", config: host, read: host, shown: host},
		"Suffix": {reason: "The suffix .git is optional.", config: host, read: host + ".git", shown: host + ".git"},
		"HostCase": {
			reason: "The case of a host means nothing.",
			config: host, read: "https://GIT.example.org/o/fleet/", shown: "https://GIT.example.org/o/fleet/",
		},
		"SSH": {
			reason: "A server offers a repository over SSH too.",
			config: host, read: "ssh://git@git.example.org/o/fleet", shown: "ssh://git@git.example.org/o/fleet",
		},
		"SSHPort": {
			reason: "An SSH server may have another port.",
			config: host, read: "ssh://git@git.example.org:2222/o/fleet", shown: "ssh://git@git.example.org:2222/o/fleet",
		},
		"SCP": {
			reason: "The form of scp is another spelling of SSH.",
			config: host, read: "git@git.example.org:o/fleet.git", shown: "git@git.example.org:o/fleet.git",
		},
		"SCPConfig": {reason: "The configuration may have the form of scp.", config: "git@git.example.org:o/fleet.git", read: host, shown: host},
		"SCPNoUser": {reason: "Git takes the form of scp without a user.", config: host, read: "git.example.org:o/fleet", shown: "git.example.org:o/fleet"},
		"GitHubPort": {
			reason: "GitHub offers SSH at ssh.github.com and port 443.",
			config: "https://github.com/o/fleet", read: "ssh://git@ssh.github.com:443/o/fleet.git",
			shown: "ssh://git@ssh.github.com:443/o/fleet.git",
		},
		"GitHubCase": {
			reason: "GitHub ignores the case of a path.",
			config: "https://github.com/Org/Fleet", read: "https://github.com/org/fleet", shown: "https://github.com/org/fleet",
		},
		"AzureSSH": {
			reason: "Azure DevOps writes v3 in SSH URLs and _git in HTTPS URLs.",
			config: "https://dev.azure.com/o/p/_git/fleet", read: "git@ssh.dev.azure.com:v3/o/p/fleet", shown: "git@ssh.dev.azure.com:v3/o/p/fleet",
		},
		"AzureOld": {
			reason: "Azure DevOps answers at the older host of an organisation.",
			config: "https://dev.azure.com/o/p/_git/fleet", read: "https://o.visualstudio.com/p/_git/fleet",
			shown: "https://o.visualstudio.com/p/_git/fleet",
		},
		"AzureUser": {
			reason: "Azure DevOps offers URLs with the organisation as the user, which is not shown.",
			config: "https://dev.azure.com/o/p/_git/fleet", read: "https://o@dev.azure.com/o/p/_git/fleet",
			shown: "https://dev.azure.com/o/p/_git/fleet",
		},
		"GitLabPath": {
			reason: "A GitLab below a path has it in HTTPS URLs only.",
			config: "https://example.org/gitlab/o/fleet.git", read: "git@example.org:o/fleet.git", shown: "git@example.org:o/fleet.git",
		},
		"GitLabAltSSH": {
			reason: "GitLab offers SSH at altssh.gitlab.com and port 443.",
			config: "https://gitlab.com/o/fleet", read: "ssh://git@altssh.gitlab.com:443/o/fleet.git",
			shown: "ssh://git@altssh.gitlab.com:443/o/fleet.git",
		},
		"BitbucketSCM": {
			reason: "Bitbucket Data Center writes scm in HTTPS URLs and port 7999 in SSH URLs.",
			config: "https://git.example.org/scm/o/fleet.git", read: "ssh://git@git.example.org:7999/o/fleet.git",
			shown: "ssh://git@git.example.org:7999/o/fleet.git",
		},
		"GerritAuth": {
			reason: "Gerrit writes /a/ where it asks for a password.",
			config: "https://git.example.org/a/fleet", read: "https://git.example.org/fleet", shown: "https://git.example.org/fleet",
		},
		"CodeCommitFIPS": {
			reason: "CodeCommit has a second host for each region.",
			config: "https://git-codecommit.us-east-1.amazonaws.com/v1/repos/fleet",
			read:   "https://git-codecommit-fips.us-east-1.amazonaws.com/v1/repos/fleet",
			shown:  "https://git-codecommit-fips.us-east-1.amazonaws.com/v1/repos/fleet",
		},
		"InCluster": {
			reason: "An engine beside the server uses its name in the cluster.",
			config: host, read: "http://gitea-http.gitea.svc.cluster.local:3000/o/fleet",
			shown: "http://gitea-http.gitea.svc.cluster.local:3000/o/fleet",
		},
		"Address": {
			reason: "A host may be written as an address.",
			config: host, read: "https://[2001:db8::1]/o/fleet", shown: "https://[2001:db8::1]/o/fleet",
		},
		"GitSSH": {
			reason: "An older name of the scheme ssh means the same.",
			config: host, read: "git+ssh://git@git.example.org/o/fleet", shown: "git+ssh://git@git.example.org/o/fleet",
		},
		"RootedHost": {
			reason: "A host may end in the dot of the root of names.",
			config: host, read: "https://git.example.org./o/fleet", shown: "https://git.example.org./o/fleet",
		},
		"SCPAddress": {
			reason: "The form of scp has an address in brackets.",
			config: host, read: "git@[2001:db8::1]:o/fleet", shown: "git@[2001:db8::1]:o/fleet",
		},
		"BitbucketPersonal": {
			reason: "Bitbucket Data Center writes a tilde before the name of a user.",
			config: "https://git.example.org/scm/~me/fleet.git", read: "ssh://git@git.example.org:7999/~me/fleet.git",
			shown: "ssh://git@git.example.org:7999/~me/fleet.git",
		},
		"AzureServer": {
			reason: "Azure DevOps Server has its collections below a path, and another port for SSH.",
			config: "https://tfs.example.org/tfs/Main/p/_git/fleet", read: "ssh://tfs.example.org:22/tfs/Main/p/_git/fleet",
			shown: "ssh://tfs.example.org:22/tfs/Main/p/_git/fleet",
		},
		"Alias": {reason: "A host of the SSH configuration is an alias.", config: host, read: "git@fleet-alias:o/fleet", shown: "git@fleet-alias:o/fleet"},
		"Mirror": {
			reason: "A mirror has the same commits.",
			config: host, read: "https://mirror.example.com/fleet.git", shown: "https://mirror.example.com/fleet.git",
		},
		"Token": {reason: "A token in a URL is not shown.", config: host, read: "https://x:s3cret@git.example.org/o/fleet?t=s3cret#s3cret", shown: host},
		"SCPToken": {
			reason: "A password of the form of scp is not shown.",
			config: host, read: "git:s3cret@git.example.org:o/fleet", shown: "git.example.org:o/fleet",
		},
		"SCPAt": {
			reason: "A password of the form of scp may hold an @, and no part of it is shown.",
			config: host, read: "git:s3@cr@et@git.example.org:o/fleet", shown: "git.example.org:o/fleet",
		},
		"SCPMail": {
			reason: "A user that is an address of mail may have a password too.",
			config: host, read: "me@example.org:s3cret@git.example.org:o/fleet", shown: "git.example.org:o/fleet",
		},
		"TokenAt": {reason: "A password in a URL may hold an @.", config: host, read: "https://x:s3@cret@git.example.org/o/fleet", shown: host},
		"Empty":   {reason: "An engine that names no URL still reports a commit.", config: host},
	}
	type reading = func(t *testing.T, url string) (main, second *unstructured.Unstructured)
	readings := map[catalogv1alpha1.EngineType]reading{
		catalogv1alpha1.EngineFlux: fluxReading, catalogv1alpha1.EngineArgoCD: argoReading, catalogv1alpha1.EngineConfigSync: configSyncReading,
	}
	for name, tc := range cases {
		for engine, read := range readings {
			t.Run(string(engine)+"/"+name, func(t *testing.T) {
				w := Want{URL: tc.config, Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
				main, second := read(t, tc.read)
				got := Observe(engine, w, main, second)
				want := Observation{Commit: readCommit, URL: tc.shown}
				if diff := cmp.Diff(want, Observation{Reason: got.Reason, Message: got.Message, Commit: got.Commit, URL: got.URL}); diff != "" {
					t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
		if tc.read == "" {
			continue // The spec has invalid spellings of a URL.
		}
		t.Run("ArgoCDSources/"+name, func(t *testing.T) {
			w := Want{URL: tc.config, Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
			a := argoApplication{}
			a.Spec.Sources = []argoSource{{RepoURL: "https://git.example.org/o/values", Path: w.SiteDir, TargetRevision: "main"}, {RepoURL: tc.read, Path: w.SiteDir, TargetRevision: "main"}}
			got, reason, message := a.findSiteSource(w)
			if diff := cmp.Diff([]string{tc.read, "", ""}, []string{got.source.RepoURL, reason, message}); diff != "" {
				t.Errorf("\n%s\nfindSource(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// readCommit is the commit that the engines below report.
const readCommit = "0123456789abcdef0123456789abcdef01234567"

// fluxReading returns a Kustomization that applied a commit, and its GitRepository with a URL.
func fluxReading(t *testing.T, url string) (main, source *unstructured.Unstructured) {
	t.Helper()
	return decodeTemplate(t, `{"kind": "Kustomization", "metadata": {"name": "o", "namespace": "n", "generation": 1}, "spec": {"path": "clusters/edge1", "sourceRef": {"kind": "GitRepository", "name": "fleet"}},
		"status": {"observedGeneration": 1, "lastAppliedRevision": "main@sha1:COMMIT", "lastAttemptedRevision": "main@sha1:COMMIT",
		"conditions": [{"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "message": "", "observedGeneration": 1, "lastTransitionTime": "2026-11-01T12:00:00Z"}]}}`, url),
		decodeTemplate(t, `{"kind": "GitRepository", "metadata": {"name": "fleet"}, "spec": {"url": ADDRESS, "ref": {"branch": "main"}}}`, url)
}

// argoReading returns an Application that applied a commit of a repository with a URL.
func argoReading(t *testing.T, url string) (main, nothing *unstructured.Unstructured) {
	t.Helper()
	return decodeTemplate(t, `{"kind": "Application", "metadata": {"name": "o", "namespace": "n"},
		"spec": {"destination": {"name": "in-cluster"}, "source": {"repoURL": ADDRESS, "targetRevision": "main", "path": "clusters/edge1"}},
		"status": {"health": {"status": "Healthy"}, "sync": {"status": "Synced", "revision": "COMMIT",
			"comparedTo": {"destination": {"name": "in-cluster"}, "source": {"repoURL": ADDRESS, "targetRevision": "main", "path": "clusters/edge1"}}}}}`, url), nil
}

// configSyncReading returns a RootSync that applied a commit of a repository with a URL, and its ResourceGroup.
func configSyncReading(t *testing.T, url string) (main, group *unstructured.Unstructured) {
	t.Helper()
	return decodeTemplate(t, `{"kind": "RootSync", "metadata": {"name": "o", "namespace": "n", "generation": 1}, "spec": {"git": {"repo": ADDRESS, "branch": "main", "dir": "clusters/edge1"}},
		"status": {"observedGeneration": 1, "source": {"commit": "COMMIT"}, "rendering": {"commit": "COMMIT"}, "sync": {"commit": "COMMIT"},
			"conditions": [{"type": "Syncing", "status": "False", "reason": "Sync", "message": "", "lastTransitionTime": "2026-11-01T12:00:00Z"}]}}`, url),
		decodeTemplate(t, `{"kind": "ResourceGroup", "metadata": {"name": "o", "namespace": "n", "generation": 1}, "status": {"observedGeneration": 1}}`, url)
}

// decodeTemplate decodes an object, with a URL and a commit in place of their names.
func decodeTemplate(t *testing.T, template, url string) *unstructured.Unstructured {
	t.Helper()
	text, err := json.Marshal(url)
	if err != nil {
		t.Fatal(err)
	}
	return decodeJSONObject(t, json.RawMessage(strings.NewReplacer("ADDRESS", string(text), "COMMIT", readCommit).Replace(template)))
}
