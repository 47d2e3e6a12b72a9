package pages

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/bench/catalog"
	"github.com/intentplane/intentplane/test/typed"
)

const (
	readmePage = "README.md"
	tourPage   = "docs/start/see-it-roll-back.md"
	firstPage  = "docs/start/first-service.md"

	// deploymentsCommand lists the deployments of the README.
	deploymentsCommand = "kubectl get intentdeployments.intentplane.dev -n team-a"

	maxReadmeLines = 100
	maxCommands    = 8
)

// maxTutorialWords bounds the tutorials, without their code blocks.
var maxTutorialWords = map[string]int{tourPage: 800, firstPage: 900}

// blocksOf returns the code blocks of a page.
func blocksOf(t *testing.T, page string) []typed.Block {
	t.Helper()
	blocks, err := typed.Blocks(page, readProjectFile(t, page))
	if err != nil {
		t.Fatalf("Each block of a page can be typed, or says why not: %v", err)
	}
	return blocks
}

// TestReadme holds the README to its length, and to one place each for the package, the deployment and its columns.
func TestReadme(t *testing.T) {
	text := readProjectFile(t, readmePage)
	if n := strings.Count(text, "\n"); n > maxReadmeLines {
		t.Errorf("%s has %d lines, want at most %d", readmePage, n, maxReadmeLines)
	}
	for _, once := range []string{"crossplane xpkg install", "kind: IntentDeployment", deploymentsCommand, "make tour"} {
		if n := strings.Count(text, once); n != 1 {
			t.Errorf("%s says %q %d times, want once", readmePage, once, n)
		}
	}
}

// TestReadmeShowsTheTour compares the pictures of the README with the run of the tour that its tutorial shows.
func TestReadmeShowsTheTour(t *testing.T) {
	tour, pictures := readProjectFile(t, tourPage), 0
	for _, b := range blocksOf(t, readmePage) {
		if b.Language != "" {
			continue
		}
		pictures++
		if missing := firstMissingLine(b.Text, tour); missing != "" {
			t.Errorf("%s shows a line that %s does not have, or not in its turn: %q", b.Place(), tourPage, missing)
		}
	}
	if pictures != 2 {
		t.Errorf("%s has %d pictures, want the rollback and its commits", readmePage, pictures)
	}
}

// TestTourDuration compares the durations of the tour in the text with the run that the tutorial shows.
func TestTourDuration(t *testing.T) {
	tutorial := tourDurations(readProjectFile(t, tourPage))
	if len(tutorial) != 2 {
		t.Fatalf("%s says the duration of the tour %d times, want once in the text and once in the run: %v", tourPage, len(tutorial), tutorial)
	}
	want := slices.Repeat(tutorial[1:], 2)
	if diff := cmp.Diff(want, append(tourDurations(readProjectFile(t, readmePage)), tutorial[0])); diff != "" {
		t.Errorf("The texts say the duration of the run in %s: -want, +got:\n%s", tourPage, diff)
	}
}

// TestReadmeColumns compares the sample of the README with the columns that the definition of namespaced composites has.
func TestReadmeColumns(t *testing.T) {
	d := definition{}
	if err := yaml.Unmarshal([]byte(readProjectFile(t, "apis/composition/namespaced/definition.yaml")), &d); err != nil {
		t.Fatal(err)
	}
	_, sample, found := strings.Cut(readProjectFile(t, readmePage), "$ "+deploymentsCommand+"\n")
	header, _, _ := strings.Cut(sample, "\n")
	if diff := cmp.Diff(d.printerColumns(), strings.Fields(header)); diff != "" || !found {
		t.Errorf("%s shows the columns of a composite: -want, +got:\n%s", readmePage, diff)
	}
}

// TestReadmeInstallsTutorialPackage compares the package that the README installs, in a block that is not typed, with the package of the second tutorial.
func TestReadmeInstallsTutorialPackage(t *testing.T) {
	packages := map[string]string{}
	for _, page := range []string{firstPage, readmePage} {
		found := installedConfiguration.FindStringSubmatch(readProjectFile(t, page))
		if found == nil {
			t.Fatalf("%s installs no Configuration", page)
		}
		packages[page] = found[1]
	}
	if diff := cmp.Diff(packages[firstPage], packages[readmePage]); diff != "" {
		t.Errorf("%s installs the Configuration of %s: -want, +got:\n%s", readmePage, firstPage, diff)
	}
}

// TestReadmeFigures compares the numbers of the README with the measured figures.
func TestReadmeFigures(t *testing.T) {
	figures, err := catalog.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]float64{}
	for _, f := range figures {
		if f.Measured != nil {
			measured[f.Name] = f.Measured.Value
		}
	}
	found := figureMention.FindAllStringSubmatch(strings.ReplaceAll(readProjectFile(t, readmePage), "\n", " "), -1)
	for _, mention := range found {
		got, err := strconv.ParseFloat(mention[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if want, isMeasured := measured[mention[2]]; !isMeasured || got != want {
			t.Errorf("%s says that %s is %v, want %v of %s", readmePage, mention[2], got, want, catalog.File)
		}
	}
	if len(found) < 2 {
		t.Errorf("%s repeats %d figures, want at least 2", readmePage, len(found))
	}
}

// TestTutorials holds the tutorials to their length, and the second one to its commands from the packages to the rollback.
func TestTutorials(t *testing.T) {
	for page, limit := range maxTutorialWords {
		blocksOf(t, page)
		if n := countProseWords(readProjectFile(t, page)); n > limit {
			t.Errorf("%s has %d words, want at most %d", page, n, limit)
		}
	}
	isCounted := func(section string) bool {
		return section != "Before you begin" && section != "How you see that it worked"
	}
	commands := shellCommands(blocksOf(t, firstPage), isCounted)
	if n := len(commands); n > maxCommands || n < 4 {
		t.Errorf("%s has %d commands, want at most %d, of at least four steps: %q", firstPage, n, maxCommands, commands)
	}
	if first := shellCommands(blocksOf(t, firstPage), func(string) bool { return true })[0]; first != "kubectl intent doctor --pre" {
		t.Errorf("%s begins with %q, want a look at the cluster", firstPage, first)
	}
}

func TestShellCommands(t *testing.T) {
	blocks := []typed.Block{
		{Section: "A", Language: typed.Shell, Text: "export X=y\nls \\\n  -l\n\npwd\n"},
		{Section: "A", Language: typed.Shell, Text: "skipped\n", Skip: "reason"},
		{Section: "A", Language: typed.Console, Text: "$ shown\n"},
		{Section: "B", Language: typed.Shell, Text: "left out\n"},
	}
	got := shellCommands(blocks, func(section string) bool { return section == "A" })
	if diff := cmp.Diff([]string{"ls    -l", "pwd"}, got); diff != "" {
		t.Errorf("shellCommands(...): -want, +got:\n%s", diff)
	}
}

func TestFirstMissingLine(t *testing.T) {
	cases := map[string]struct {
		reason string
		lines  string
		want   string
	}{
		"All":     {reason: "Lines of the text pass, although the text has others between them.", lines: "a\nc\n"},
		"Other":   {reason: "A line that the text does not have is reported.", lines: "a\nx\n", want: "x"},
		"Part":    {reason: "A part of a line is not the line.", lines: "a\nb\n", want: "b"},
		"Earlier": {reason: "A line that the text has only before the others is reported.", lines: "c\na\n", want: "a"},
		"Twice":   {reason: "One line of the text does not stand for two.", lines: "c\nc\n", want: "c"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, firstMissingLine(tc.lines, "a\nb and more\nc\n")); diff != "" {
				t.Errorf("\n%s\nfirstMissingLine(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCountWords(t *testing.T) {
	if n := countProseWords("# One two\n\nthree\n```\nfour\n```\nfive\n"); n != 5 {
		t.Errorf("countWords(...): want the words outside of code blocks, with the mark of the heading, got %d", n)
	}
}

// TestStartInstall builds the kustomization that the second tutorial applies: all of examples/install but the objects for a
// registry of one's own, and the right to observe pods.
func TestStartInstall(t *testing.T) {
	built := map[string][]string{}
	for _, dir := range []string{"install", "start/install"} {
		objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../examples/"+dir)
		if err != nil {
			t.Fatalf("kubectl apply -k examples/%s would fail: %v", dir, err)
		}
		for _, r := range objects.Resources() {
			built[dir] = append(built[dir], r.GetKind()+" "+r.GetName())
		}
	}
	names := strings.Join(built["start/install"], "\n") + "\n"
	for _, name := range built["install"] {
		isOfRegistry := name == "ImageConfig intentplane-registry" || name == "ImageConfig intentplane-credentials"
		if strings.Contains(names, name+"\n") == isOfRegistry {
			t.Errorf("examples/start/install has %s: %v, want the opposite", name, isOfRegistry)
		}
	}
	if !strings.Contains(names, "ClusterRoleBinding intentplane:health\n") {
		t.Errorf("examples/start/install does not bind the right to observe pods:\n%s", names)
	}
}
