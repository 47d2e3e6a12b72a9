// Package typed reads the code blocks of documentation, and makes a script of a page with the commands of a reader who types each of them in
// order.
package typed

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Languages of blocks that can be typed.
const (
	// Shell is run as it is.
	Shell = "sh"
	// Console has commands behind "$ ", which are run, and their output, which is not compared.
	Console = "console"
	// Text shows something, as a block without a language does.
	Text = "text"
	// YAML is applied as a dry run of the API server, with strict validation of its fields, or for good where a mark says so.
	YAML = "yaml"
)

// Pages are the pages that are typed on one control plane, from the root of the repository. The last page installs a further Configuration.
func Pages() []string {
	return []string{
		"docs/install.md", "docs/gitops.md", "docs/gates.md", "docs/clusters.md", "docs/operations.md",
		"docs/operations/phases.md", "docs/operations/waiting.md", "docs/operations/why.md", "docs/operations/rollout.md", "docs/operations/rollback.md",
		"docs/operations/requests.md", "docs/operations/updates.md", "docs/operations/repositories.md", "docs/operations/sites.md",
		"docs/operations/clusters.md", "docs/operations/monitoring.md", "docs/operations/notifications.md", "docs/operations/deleting.md", "docs/operations/prune.md", "docs/operations/after-a-loss.md",
		"docs/operations/ledger.md",
		"docs/operations/upgrades.md",
		"docs/canary.md", "docs/questions.md", "docs/applications.md",
	}
}

// A Block is one code block of a page.
type Block struct {
	// Page is the path of the page, and Line the line of the block's fence in it.
	Page string
	Line int
	// Section is the heading of the second level that the block is below.
	Section string
	// Language that the fence names, and Text between the fences.
	Language string
	Text     string
	// Apply says that a block of YAML is applied for good.
	Apply bool
	// Skip says why a block is not typed, and is empty where it is.
	Skip string
}

// Place returns where a block is.
func (b Block) Place() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// A mark stands in the line before a block: <!-- typed: no, REASON --> or <!-- typed: apply -->.
var mark = regexp.MustCompile(`^<!-- typed: (no|apply)(?:, (.+))? -->$`)

// Blocks returns the code blocks of a page. It returns an error for a block that could neither be typed nor says why, for a mark that is not
// understood, and for a mark that no block follows.
func Blocks(page, text string) ([]Block, error) {
	r := reader{page: page}
	for i, line := range strings.Split(text, "\n") {
		if err := r.readPageLine(i+1, line); err != nil {
			return nil, errors.Wrapf(err, "%s:%d", page, i+1)
		}
	}
	if r.open != nil || r.mark != nil {
		return nil, errors.Errorf("%s: the last block or mark has no end", page)
	}
	return r.blocks, nil
}

// A reader reads a page line by line.
type reader struct {
	page    string
	section string
	// mark before the next block, if there is one.
	mark []string
	// open is the block that is read, whose lines are indented by indent.
	open   *Block
	indent string
	blocks []Block
}

func (r *reader) readPageLine(number int, line string) error {
	trimmed := strings.TrimSpace(line)
	switch {
	case r.open != nil:
		return r.readBlockLine(line, trimmed)
	case strings.HasPrefix(trimmed, "```"):
		return r.beginBlock(number, line, trimmed)
	case strings.HasPrefix(trimmed, "<!-- typed:"):
		r.mark = mark.FindStringSubmatch(trimmed)
		if r.mark == nil || r.mark[1] == "no" && r.mark[2] == "" {
			return errors.Errorf("cannot understand the mark %q: want <!-- typed: no, REASON --> or <!-- typed: apply -->", trimmed)
		}
		return nil
	case r.mark != nil:
		return errors.New("a mark has to stand in the line before its block")
	case strings.HasPrefix(line, "## "):
		r.section = strings.TrimPrefix(line, "## ")
	}
	return nil
}

func (r *reader) beginBlock(number int, line, trimmed string) error {
	r.open = &Block{Page: r.page, Line: number, Section: r.section, Language: strings.TrimPrefix(trimmed, "```")}
	r.indent, _, _ = strings.Cut(line, "`")
	if r.mark == nil {
		return nil
	}
	r.open.Apply = r.mark[1] == "apply"
	if r.mark[1] == "no" {
		r.open.Skip = r.mark[2]
	}
	r.mark = nil
	return nil
}

func (r *reader) readBlockLine(line, trimmed string) error {
	if trimmed != "```" {
		r.open.Text += strings.TrimPrefix(line, r.indent) + "\n"
		return nil
	}
	b := *r.open
	r.open = nil
	if err := b.checkBlock(); err != nil {
		return err
	}
	r.blocks = append(r.blocks, b)
	return nil
}

// checkBlock returns an error for a block that cannot be typed and does not say why. One without a language shows something, unless it has commands.
func (b Block) checkBlock() error {
	if b.Skip != "" {
		return nil
	}
	if b.Apply && b.Language != YAML {
		return errors.New("only a block of YAML can be applied")
	}
	if b.showsOutput() && len(b.typedCommands()) > 0 {
		return errors.New(`a block with commands behind "$ " has to be of language console`)
	}
	if b.showsOutput() || slices.Contains([]string{Shell, Console, YAML}, b.Language) {
		return nil
	}
	return errors.Errorf("cannot type a block of language %q: mark it with <!-- typed: no, REASON -->", b.Language)
}

// showsOutput returns whether a block shows something, and has nothing to type.
func (b Block) showsOutput() bool { return b.Language == "" || b.Language == Text }

// typedCommands returns the lines of a console that were typed.
func (b Block) typedCommands() []string {
	var out []string
	for line := range strings.Lines(b.Text) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			out = append(out, c)
		}
	}
	return out
}
