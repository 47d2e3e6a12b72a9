package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/tools/release/install"
	"github.com/intentplane/intentplane/tools/release/plugin"
	"github.com/intentplane/intentplane/tools/release/sbom"
	"github.com/intentplane/intentplane/tools/release/signing"
	"github.com/intentplane/intentplane/tools/release/source"
	"github.com/intentplane/intentplane/tools/release/statement"
)

const pluginName = "kubectl-intent"

// A makeCommand makes the folder of a release.
type makeCommand struct {
	versionFlags

	Built     string   `required:"" help:"The folder with the built programs and packages."`
	Output    string   `required:"" help:"The folder of the release. Its content is replaced."`
	Platforms []string `required:"" help:"The platforms of the plugin, such as linux/amd64. Packages are for those of Linux."`
	Key       string   `help:"The file with the private key that signs. COSIGN_PASSWORD has its password. Without a key nothing is signed."`
	Log       string   `help:"The address of the transparency log that records the signatures, such as https://rekor.sigstore.dev."`
	Builder   string   `default:"https://github.com/intentplane/intentplane/blob/main/docs/releases.md#your-own-machine" help:"The URI that names the builder in the provenance."`
}

// Run makes the release beside the output, and puts it there in the end: an interrupted run leaves no half release.
func (c *makeCommand) Run(ctx context.Context) error {
	checkout, err := c.readCheckout(ctx)
	if err != nil {
		return err
	}
	signer, err := c.signer()
	if err != nil {
		return err
	}
	out, err := newDist(c.Output + ".partial")
	if err != nil {
		return err
	}
	m := &maker{makeCommand: c, checkout: checkout, signer: signer, out: out, programs: map[string][]sbom.Program{}, documents: map[string][]byte{}}
	if err := m.run(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(c.Output); err != nil {
		return fmt.Errorf("cannot replace %s: %w", c.Output, err)
	}
	if err := os.Rename(out.dir, c.Output); err != nil {
		return fmt.Errorf("cannot replace %s: %w", c.Output, err)
	}
	c.report()
	return nil
}

// signer returns nil without a key.
func (c *makeCommand) signer() (*signing.Signer, error) {
	if c.Key == "" {
		return nil, nil
	}
	key, err := signing.ReadKey(c.Key, []byte(os.Getenv("COSIGN_PASSWORD")))
	if err != nil {
		return nil, err
	}
	if c.Log == "" {
		return &signing.Signer{Key: key}, nil
	}
	l, err := signing.OpenLog(c.Log)
	if err != nil {
		return nil, err
	}
	return &signing.Signer{Key: key, Log: l}, nil
}

// report says what the files lack.
func (c *makeCommand) report() {
	fmt.Printf("release: %s has release %s\n", c.Output, c.Version)
	switch {
	case c.Key == "":
		fmt.Println("release: nothing is signed: name a key, as in KEY=../cosign.key")
	case c.Log == "":
		fmt.Println("release: Crossplane refuses these signatures: it wants an entry of a transparency log, as from TLOG=https://rekor.sigstore.dev")
	}
}

// A maker makes the files of one release.
type maker struct {
	*makeCommand

	checkout source.Checkout
	signer   *signing.Signer
	out      *dist

	// compiler is the version of Go that compiled the programs.
	compiler string

	// programs and documents are the released files of each program, and the list of its content.
	programs  map[string][]sbom.Program
	documents map[string][]byte
}

func (m *maker) run(ctx context.Context) error {
	for _, step := range []func() error{m.addPlugin, m.addPackages, m.addDocuments, m.addInstall} {
		if err := step(); err != nil {
			return err
		}
	}
	provenance, err := m.describe(m.out.files)
	if err != nil {
		return err
	}
	if _, err := m.out.add("provenance.json", provenance); err != nil {
		return err
	}
	if err := m.writeLayouts(ctx); err != nil {
		return err
	}
	if m.signer != nil {
		if err := m.addSigned(provenance); err != nil {
			return err
		}
	}
	return m.addChecksums()
}

func (m *maker) describe(subjects []statement.Subject) ([]byte, error) {
	return statement.Build{Version: m.Version, Commit: m.checkout.Commit, Go: m.compiler, Builder: m.Builder}.Describe(subjects)
}

// addPlugin adds the archives of the plugin, and the manifest of krew.
func (m *maker) addPlugin() error {
	licence, err := os.ReadFile(filepath.Join(m.Root, "LICENSE"))
	if err != nil {
		return fmt.Errorf("cannot read the licence: %w", err)
	}
	digests, platforms := map[plugin.Platform]string{}, []plugin.Platform{}
	for _, text := range m.Platforms {
		p, err := plugin.ParsePlatform(text)
		if err != nil {
			return err
		}
		if digests[p], err = m.addArchive(p, licence); err != nil {
			return err
		}
		platforms = append(platforms, p)
	}
	manifest, err := plugin.Manifest(m.Version, platforms, digests)
	if err != nil {
		return err
	}
	_, err = m.out.add("intent.yaml", manifest)
	return err
}

func (m *maker) addArchive(p plugin.Platform, licence []byte) (string, error) {
	binary := filepath.Join(m.Built, "plugin", p.OS, p.Architecture, pluginName)
	program, err := os.ReadFile(binary)
	if err != nil {
		return "", fmt.Errorf("cannot read the plugin: %w", err)
	}
	if err := m.checkProgram(binary, p); err != nil {
		return "", err
	}
	archive, err := plugin.Archive(p, program, licence, m.checkout.Time)
	if err != nil {
		return "", err
	}
	file := p.File(m.Version)
	digest, err := m.out.add(file, archive)
	m.programs[pluginName] = append(m.programs[pluginName], sbom.Program{File: file, SHA256: digest, Binary: binary})
	return digest, err
}

// addPackages adds the files of the packages.
func (m *maker) addPackages() error {
	for _, p := range released {
		for _, f := range p.files(m.makeCommand) {
			if err := m.addPackage(p, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *maker) addPackage(p releasedPackage, f packageFile) error {
	content, err := os.ReadFile(f.built)
	if err != nil {
		return fmt.Errorf("cannot read a package: %w", err)
	}
	digest, err := m.out.add(f.name, content)
	if err != nil || p.program == "" {
		return err
	}
	m.programs[p.name] = append(m.programs[p.name], sbom.Program{File: f.name, SHA256: digest, Binary: f.binary})
	return m.checkProgram(f.binary, f.platform)
}

// addDocuments adds the lists of the content of programs.
func (m *maker) addDocuments() error {
	for _, name := range slices.Sorted(maps.Keys(m.programs)) {
		document, err := sbom.Document(name, m.Version, m.checkout.Time, m.programs[name])
		if err != nil {
			return err
		}
		if _, err := m.out.add(name+".spdx.json", document); err != nil {
			return err
		}
		m.documents[name] = document
	}
	return nil
}

func (m *maker) addInstall() error {
	manifests, err := install.Manifests(os.DirFS(filepath.Join(m.Root, "examples")))
	if err != nil {
		return err
	}
	_, err = m.out.add("install.yaml", manifests)
	return err
}

// addSigned adds the files that depend on the key.
func (m *maker) addSigned(provenance []byte) error {
	envelope, err := m.signer.SignStatement(provenance)
	if err != nil {
		return err
	}
	verification, err := install.Verification(m.signer.Key.Public)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{
		{"provenance.intoto.jsonl", append(envelope, '\n')},
		{"verification.yaml", verification},
		{"cosign.pub", m.signer.Key.Public},
	} {
		if _, err := m.out.add(f.name, f.content); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) addChecksums() error {
	checksums := m.out.checksums()
	if _, err := m.out.add("checksums.txt", checksums); err != nil {
		return err
	}
	if m.signer == nil {
		return nil
	}
	signature, err := m.signer.Key.SignFile(checksums)
	if err != nil {
		return err
	}
	_, err = m.out.add("checksums.txt.sig", signature)
	return err
}

// linuxArchitectures returns the architectures of the packages.
func (c *makeCommand) linuxArchitectures() []string {
	var out []string
	for _, p := range c.Platforms {
		if architecture, ok := strings.CutPrefix(p, "linux/"); ok {
			out = append(out, architecture)
		}
	}
	return out
}
