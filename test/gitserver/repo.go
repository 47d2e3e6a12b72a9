package gitserver

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Branch is the branch that a new repository's HEAD names.
const Branch = "main"

const otherUser = "Another User <other-user@example.org>"

// isolatedEnvironment returns an environment in which git reads no configuration but the repository's.
func isolatedEnvironment(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}
}

// CreateRepo creates a bare repository. Its first commit has the files of seed; without any it stays empty. It returns an error
// if the repository exists.
func (s *Server) CreateRepo(ctx context.Context, repo string, seed map[string]string) error {
	p := s.Path(repo)
	if _, err := os.Stat(p); err == nil {
		return errors.Errorf("cannot create repository %q: it exists", repo)
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return errors.Wrapf(err, "cannot create directory of repository %q", repo)
	}
	if _, err := s.runGit(ctx, s.dir, nil, "init", "--quiet", "--bare", "--template="+s.repoTemplateDir(), "-b", Branch, p); err != nil {
		return err
	}
	if len(seed) == 0 {
		return nil
	}
	_, err := s.Commit(ctx, repo, Branch, seed, "First commit")
	return err
}

// settings make a repository behave like the repositories of public forges, run nothing that outlives the request, and are not written for a
// power failure.
const settings = `[core]
	fsync = none
[uploadpack]
	allowFilter = true
	allowTipSHA1InWant = true
	allowReachableSHA1InWant = true
[receive]
	advertiseAtomic = true
	autogc = false
[gc]
	auto = 0
`

// repoTemplateDir is the directory that new repositories are copied from.
func (s *Server) repoTemplateDir() string { return filepath.Join(s.dir, ".template") }

// writeTemplate writes the settings of new repositories, so that git makes one in one process, and a directory for hooks.
func (s *Server) writeTemplate() error {
	if err := os.MkdirAll(filepath.Join(s.repoTemplateDir(), "hooks"), 0o755); err != nil {
		return errors.Wrap(err, "cannot create template directory")
	}
	err := os.WriteFile(filepath.Join(s.repoTemplateDir(), "config"), []byte(settings), 0o600)
	return errors.Wrap(err, "cannot write template of repositories")
}

// Configure sets a git setting of a repository, such as receive.advertiseAtomic.
func (s *Server) Configure(ctx context.Context, repo, key, value string) error {
	_, err := s.Git(ctx, repo, "config", key, value)
	return err
}

// Git runs a git command in a bare repository and returns its output. The error has the message of git.
func (s *Server) Git(ctx context.Context, repo string, args ...string) (string, error) {
	out, err := s.runGit(ctx, s.Path(repo), nil, args...)
	return string(out), err
}

func (s *Server) runGit(ctx context.Context, dir string, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = isolatedEnvironment(s.dir)
	cmd.Stdin = bytes.NewReader(stdin)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	return out, errors.Wrapf(err, "cannot run git %s: %s", args[0], strings.TrimSpace(complaint.String()))
}

// Commit adds one commit to a branch, which it creates when it does not exist, as another user without Intentplane:
// each of files, by path, gets its content. It returns the commit's id.
func (s *Server) Commit(ctx context.Context, repo, branch string, files map[string]string, message string) (string, error) {
	return s.CommitRef(ctx, repo, "refs/heads/"+branch, files, message)
}

// CommitRef adds one commit to a ref, by its full name, as Commit does to a branch.
func (s *Server) CommitRef(ctx context.Context, repo, ref string, files map[string]string, message string) (string, error) {
	var changes bytes.Buffer
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&changes, "M 100644 inline %q\ndata %d\n%s\n", p, len(files[p]), files[p])
	}
	return s.commitFastImport(ctx, repo, ref, message, changes.Bytes())
}

// Remove adds one commit to a branch, as another user, that removes files or whole directories. It returns the commit's id.
func (s *Server) Remove(ctx context.Context, repo, branch string, paths []string, message string) (string, error) {
	var changes bytes.Buffer
	for _, p := range slices.Sorted(slices.Values(paths)) {
		fmt.Fprintf(&changes, "D %q\n", p)
	}
	return s.commitFastImport(ctx, repo, "refs/heads/"+branch, message, changes.Bytes())
}

// Replace adds one commit to a branch, as another user, after which a directory has these files, by their paths in it, and no others. It returns the
// commit's id.
func (s *Server) Replace(ctx context.Context, repo, branch, dir string, files map[string]string, message string) (string, error) {
	changes := bytes.NewBufferString(fmt.Sprintf("D %q\n", dir))
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(changes, "M 100644 inline %q\ndata %d\n%s\n", dir+"/"+p, len(files[p]), files[p])
	}
	return s.commitFastImport(ctx, repo, "refs/heads/"+branch, message, changes.Bytes())
}

// commitFastImport uses fast-import: one process, no working copy, and it refuses to lose a commit that arrived in between.
func (s *Server) commitFastImport(ctx context.Context, repo, ref, message string, changes []byte) (string, error) {
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\ncommitter %s now\ndata %d\n%s\n", ref, otherUser, len(message), message)
	if s.hasRepositoryRef(ctx, repo, ref) {
		fmt.Fprintf(&in, "from %s^0\n", ref)
	}
	in.Write(changes)
	if _, err := s.runGit(ctx, s.Path(repo), in.Bytes(), "fast-import", "--quiet", "--date-format=now"); err != nil {
		return "", err
	}
	// fast-import writes each ref into a file of its own.
	id, err := os.ReadFile(filepath.Join(s.Path(repo), ref))
	return strings.TrimSpace(string(id)), errors.Wrapf(err, "cannot read ref %s", ref)
}

// hasRepositoryRef reports whether a repository has a ref. It asks git only if the ref may be packed: each process costs milliseconds.
func (s *Server) hasRepositoryRef(ctx context.Context, repo, ref string) bool {
	if _, err := os.Stat(filepath.Join(s.Path(repo), ref)); err == nil {
		return true
	}
	if _, err := os.Stat(filepath.Join(s.Path(repo), "packed-refs")); err != nil {
		return false
	}
	_, err := s.Git(ctx, repo, "rev-parse", "--quiet", "--verify", ref)
	return err == nil
}
