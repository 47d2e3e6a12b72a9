package ledger

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
)

const (
	stateRef  = "refs/intentplane/test/state"
	branchRef = "refs/heads/main"
)

// files are the files of the claim in the state of a repository. Nil where it holds nothing.
type files struct {
	ledger *state.LedgerFile
	record *state.RecordFile
}

func (d *deployment) claimReference() rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: d.Namespace, Name: claim}
}

// readFilesWithGit reads the state of a repository with the git command.
func (d *deployment) readFilesWithGit(ctx context.Context, repository string) (files, error) {
	out := files{}
	all, err := d.readStateFiles(ctx, repository)
	if err != nil {
		return out, err
	}
	if content, ok := all[state.LedgerPath(d.claimReference())]; ok {
		f, err := state.DecodeLedger([]byte(content))
		if err != nil {
			return out, errors.Wrapf(err, "ledger in %s", repository)
		}
		out.ledger = &f
	}
	if content, ok := all[state.RecordPath(d.claimReference())]; ok {
		r, err := state.DecodeRecord([]byte(content))
		if err != nil {
			return out, errors.Wrapf(err, "record in %s", repository)
		}
		out.record = &r
	}
	return out, nil
}

// readStateFiles returns the files of the state of a repository. It has none where the ref is missing.
func (d *deployment) readStateFiles(ctx context.Context, repository string) (map[string]string, error) {
	refs, err := d.Git.Refs(ctx, repository)
	if err != nil || refs[stateRef] == "" {
		return nil, err
	}
	return d.Git.Files(ctx, repository, refs[stateRef])
}

// storedRecord returns the files of the claim in the state of a repository.
func (d *deployment) storedRecord(repository string) files {
	d.T.Helper()
	f, err := d.readFilesWithGit(d.T.Context(), repository)
	d.Must(err)
	return f
}

// recordedLedger is the ledger of the home.
func (d *deployment) recordedLedger() state.LedgerFile {
	d.T.Helper()
	f := d.storedRecord(d.homeRepository())
	if f.ledger == nil {
		d.T.Fatalf("repository %s holds no ledger", d.homeRepository())
	}
	return *f.ledger
}

// stateFileOf returns a file of the claim in the state of a repository, with all its fields.
func (d *deployment) stateFileOf(repository, name string) map[string]any {
	d.T.Helper()
	all, err := d.readStateFiles(d.T.Context(), repository)
	d.Must(err)
	out := map[string]any{}
	d.Must(json.Unmarshal([]byte(all[d.pathOfState(name)]), &out))
	return out
}

// editStateFile edits a file of the claim in the state of a repository, as another version of the provider would.
func (d *deployment) editStateFile(repository, name string, change func(file map[string]any)) {
	d.T.Helper()
	file := d.stateFileOf(repository, name)
	change(file)
	content, err := json.MarshalIndent(file, "", " ")
	d.Must(err)
	_, err = d.Git.CommitRef(d.T.Context(), repository, stateRef, map[string]string{d.pathOfState(name): string(content) + "\n"}, "Another version")
	d.Must(err)
}

func (d *deployment) pathOfState(name string) string {
	return path.Join(path.Dir(state.LedgerPath(d.claimReference())), name)
}

// refsOfRepositories are the refs of all repositories, by their names.
func (d *deployment) refsOfRepositories() map[string]map[string]string {
	d.T.Helper()
	out := map[string]map[string]string{}
	for _, repository := range d.repositories {
		refs, err := d.Git.Refs(d.T.Context(), repository)
		d.Must(err)
		out[repository] = refs
	}
	return out
}

// restoreRefs restores a repository from a backup of its refs.
func (d *deployment) restoreRefs(repository string, backup map[string]map[string]string) {
	d.T.Helper()
	for ref, id := range backup[repository] {
		d.runGit(repository, "update-ref", ref, id)
	}
}

func (d *deployment) runGit(repository string, args ...string) string {
	d.T.Helper()
	out, err := d.Git.Git(d.T.Context(), repository, args...)
	d.Must(err)
	return out
}

// commitsOnBranch is the number of commits on the branch of a repository beside its first commit.
func (d *deployment) commitsOnBranch(repository string) int {
	d.T.Helper()
	log, err := d.Git.Log(d.T.Context(), repository, "main")
	d.Must(err)
	return len(log) - 1
}

// replicasInFile returns the replicas in the file of a Site in its repository. Empty without a file.
func (d *deployment) replicasInFile(repository int) string {
	d.T.Helper()
	all, err := d.Git.Files(d.T.Context(), d.repositories[repository], "main")
	d.Must(err)
	text := all[d.Directory(nameOfSite(repository), claim)+"/deployment-shop.yaml"]
	_, after, _ := strings.Cut(text, "replicas: ")
	n, _, _ := strings.Cut(after, "\n")
	return n
}
