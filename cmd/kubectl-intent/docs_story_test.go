package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/cli"
)

// TestDocumentation runs each command of the documentation, from the root of a repository that has the examples, and with a cluster
// that has the quickstart. Console sessions, which need more than that, are not run.
func TestDocumentation(t *testing.T) {
	commands := []string{}
	fence := regexp.MustCompile("(?s)\n```sh\n(.*?)\n```")
	for _, file := range []string{"../../docs/kubectl-intent.md", "../../docs/intents.md", "../../docs/operations/waiting.md", "../../docs/canary.md", "../../docs/operations/why.md"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fence.FindAllStringSubmatch(string(b), -1) {
			for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", "")) {
				if words := strings.Fields(line); isOurs(words) {
					commands = append(commands, strings.TrimSpace(line))
				}
			}
		}
	}
	server := cli.Server{Objects: append(cli.Installation(t), deliveryWithFiles(t))}
	t.Setenv("KUBECONFIG", server.Start(t, trialSites, examples+"20-blueprint.yaml", examples+"30-config.yaml", examples+"40-claim.yaml"))
	repository := t.TempDir()
	if err := os.CopyFS(filepath.Join(repository, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(repository)
	for _, command := range commands {
		if err := os.RemoveAll("rendered"); err != nil {
			t.Fatal(err)
		}
		if out, problems, code := runIntent("", argsOfLine(t, command)...); code != 0 || out == "" && !strings.Contains(command, "--to web.yaml") && !strings.Contains(command, "intent diff") {
			t.Errorf("%s: exit code %d:\n%s%s", command, code, out, problems)
		}
	}
	if len(commands) < 20 {
		t.Errorf("the documentation has %d commands, want at least 20: %q", len(commands), commands)
	}
}

// deliveryWithFiles is the GitDelivery of the quickstart, which carries its rendered files.
func deliveryWithFiles(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	objects, err := cli.CarryFiles(t, examples, samples.Verified()).Objects()
	if err != nil {
		t.Fatal(err)
	}
	return objects[slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "GitDelivery" })]
}

// isOurs is true for commands that stand alone. Commands that wait need a control plane, and are run with one.
func isOurs(words []string) bool {
	return len(words) > 1 && !slices.Contains(words, "wait") && (words[0] == "kubectl-intent" || words[0] == "kubectl" && words[1] == "intent")
}

// argsOfLine returns the arguments as a shell does: it finds files, and leaves redirections out.
func argsOfLine(t *testing.T, line string) []string {
	t.Helper()
	line, _, _ = strings.Cut(line, " > ")
	words := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(line, "kubectl-intent "), "kubectl intent "))
	out := []string{}
	for _, word := range words {
		files, err := filepath.Glob(word)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 || !strings.Contains(word, "*") {
			files = []string{word}
		}
		out = slices.Concat(out, files)
	}
	return out
}

// TestCommandsAreDocumented holds the documentation to every command and flag that help shows. The page of commands is generated, and lists the others.
func TestCommandsAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/kubectl-intent.md")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := newCommandParser(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		if !strings.Contains(string(b), command.Name) {
			t.Errorf("%s is not documented", command.Name)
		}
		for _, flag := range command.Flags {
			if !flag.Hidden && !strings.Contains(string(b), "--"+flag.Name) && !slices.Contains([]string{"help", "output", "type"}, flag.Name) {
				t.Errorf("%s --%s is not documented", command.Name, flag.Name)
			}
		}
	}
}

// TestDocumentedObjects validates the objects of ours that pages show whole, with their examples.
func TestDocumentedObjects(t *testing.T) {
	fence := regexp.MustCompile("(?s)\n```yaml\n(apiVersion: .*?)\n```")
	for file, kind := range map[string]string{"intents.md": "kind: Blueprint", "operations/requests.md": "kind: RolloutRequest"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, block := range fence.FindAllStringSubmatch(string(b), -1) {
			if !strings.Contains(block[1], kind) {
				continue
			}
			count++
			if out, problems, code := runIntent(block[1], "validate", "-", "--strict"); code != 0 {
				t.Errorf("docs/%s shows an object with %q that is not valid: %s%s", file, kind, out, problems)
			}
		}
		if count == 0 {
			t.Errorf("docs/%s: an object with %q is wanted", file, kind)
		}
	}
}
