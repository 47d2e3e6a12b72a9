// Package source decides whether a checkout can be released, and reads from Git the facts that a release has in its files.
package source

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// A Checkout is the state of a Git checkout.
type Checkout struct {
	// Commit is the id of the checked out commit.
	Commit string

	// Time of the commit. All files of a release have it, so that a second build makes equal files.
	Time time.Time

	// Changes are the paths of files that differ from the commit, and of files that no commit has. Files that .gitignore of the commit ignores are left out.
	// Files that only the settings of a machine, or a .gitignore without a commit, ignore are not.
	Changes []string

	// Unchecked are the paths of files whose changes Git does not report, by their marks assume-unchanged or skip-worktree.
	Unchecked []string

	// Tagged is the commit of the tag that has the name of the version. It is empty without such a tag.
	Tagged string
}

// CheckVersion returns an error unless a text is the version of a release. Build metadata, which a canonical version does not have, is refused: the tag of an image
// cannot have a plus sign.
func CheckVersion(version string) error {
	if version == "" {
		return errors.New(`cannot make a release: name its version, as in "make release VERSION=v0.1.0"`)
	}
	if semver.Canonical(version) != version {
		return fmt.Errorf("cannot make a release of version %q: want a semantic version with v and three numbers, such as v0.1.0 or v0.1.0-rc.1", version)
	}
	return nil
}

// Read returns the state of the checkout in a folder. It returns an error if the folder has no commit.
func Read(ctx context.Context, dir, version string) (Checkout, error) {
	head, err := runGit(ctx, dir, "show", "--no-patch", "--format=%H %ct", "HEAD")
	if err != nil {
		return Checkout{}, fmt.Errorf("cannot make a release of a folder without a commit: %w", err)
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(head), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return Checkout{}, fmt.Errorf("cannot read the time of commit %s: %w", commit, err)
	}
	out := Checkout{Commit: commit, Time: time.Unix(unix, 0).UTC()}
	status, err := runGit(ctx, dir, "status", "--porcelain", "-z", "--untracked-files=no", "--no-renames")
	if err != nil {
		return Checkout{}, err
	}
	listed, err := listFiles(ctx, dir)
	if err != nil {
		return Checkout{}, err
	}
	out.Changes = changedPaths(status)
	out.addListed(listed)
	// Without such a tag the output is empty.
	tagged, err := runGit(ctx, dir, "for-each-ref", "--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)", "refs/tags/"+version)
	if err != nil {
		return Checkout{}, err
	}
	out.Tagged = strings.TrimSpace(tagged)
	return out, nil
}

// listFiles returns the output of "git ls-files -z -v" for all files, except for files that the commit ignores. A .gitignore in the checkout may ignore
// itself, and files beside it that are compiled: so the patterns come from the commit, from the .gitignore of its root.
func listFiles(ctx context.Context, dir string) (string, error) {
	args := []string{"ls-files", "-z", "-v", "--cached", "--others"}
	named, err := runGit(ctx, dir, "ls-tree", "--name-only", "HEAD", ".gitignore")
	if err != nil {
		return "", err
	}
	if named == "" {
		return runGit(ctx, dir, args...)
	}
	patterns, err := runGit(ctx, dir, "show", "HEAD:./.gitignore")
	if err != nil {
		return "", err
	}
	for pattern := range strings.Lines(patterns) {
		if pattern = strings.TrimSuffix(pattern, "\n"); pattern != "" && pattern[0] != '#' {
			args = append(args, "--exclude="+pattern)
		}
	}
	return runGit(ctx, dir, args...)
}

// changedPaths returns the paths of "git status --porcelain -z", whose entries have two letters and a space before the path.
func changedPaths(status string) []string {
	var out []string
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) > 3 {
			out = append(out, entry[3:])
		}
	}
	return out
}

// addListed adds the paths of "git ls-files -z -v", whose entries have a tag and a space before the path: "?" for a file that no commit has, "S" for a file whose
// working copy Git skips, and a tag in lower case for a file that Git assumes to be unchanged.
func (c *Checkout) addListed(listed string) {
	for entry := range strings.SplitSeq(listed, "\x00") {
		tag, path, _ := strings.Cut(entry, " ")
		switch {
		case tag == "?":
			c.Changes = append(c.Changes, path)
		case tag == "S" || tag != strings.ToUpper(tag):
			c.Unchecked = append(c.Unchecked, path)
		}
	}
}

// Check returns an error if a version cannot be released from the checkout. A rebuild makes the files of a tagged version again, from the commit of its tag.
func (c Checkout) Check(version string, rebuild bool) error {
	if err := CheckVersion(version); err != nil {
		return err
	}
	if len(c.Changes) > 0 {
		return fmt.Errorf("cannot make release %s: %s differs from its commit: commit the change, or take it out of the checkout", version, countPaths(c.Changes))
	}
	if len(c.Unchecked) > 0 {
		return fmt.Errorf("cannot make release %s: Git does not report changes of %s: use git update-index --no-assume-unchanged --no-skip-worktree",
			version, countPaths(c.Unchecked))
	}
	if rebuild {
		return c.checkRebuild(version)
	}
	if c.Tagged != "" {
		return fmt.Errorf("cannot make release %s: tag %s exists, of commit %s: choose another version, or make its files again with REBUILD=1", version, version, c.Tagged)
	}
	return nil
}

func (c Checkout) checkRebuild(version string) error {
	if c.Tagged == "" {
		return fmt.Errorf("cannot rebuild %s: tag %s does not exist", version, version)
	}
	if c.Tagged != c.Commit {
		return fmt.Errorf("cannot rebuild %s: tag %s is of commit %s, and the checkout at %s: check out the tag", version, version, c.Tagged, c.Commit)
	}
	return nil
}

// countPaths names the first path and the number of the others.
func countPaths(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s (and %d more)", paths[0], len(paths)-1)
}

func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	exit := &exec.ExitError{}
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("cannot run git: %w", err)
	}
	return string(out), nil
}
