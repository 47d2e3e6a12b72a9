package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/intentplane/intentplane/tools/release/install"
	"github.com/intentplane/intentplane/tools/release/packages"
	"github.com/intentplane/intentplane/tools/release/plugin"
	"github.com/intentplane/intentplane/tools/release/signing"
	"github.com/intentplane/intentplane/tools/release/statement"
)

// layouts is the folder of a release with the packages as a registry has them.
const layouts = "packages"

// A releasedPackage is a package of a release.
type releasedPackage struct {
	// name is the last part of the package's repository.
	name string

	// built is the name of the built file, without architecture and extension.
	built string

	// program is the name of the program in the package, or empty.
	program string
}

// released are the packages of a release.
var released = []releasedPackage{
	{name: "configuration-intentplane", built: "configuration"},
	{name: "configuration-intentplane-applications", built: "configuration-applications"},
	{name: "configuration-intentplane-namespaced", built: "configuration-namespaced"},
	{name: "function-intentplane", built: "function", program: "function"},
	{name: "provider-intentplane", built: "provider", program: "provider"},
}

// A packageFile is a file of a package: one for each architecture of its program.
type packageFile struct {
	// name is the name in the release.
	name string

	// built is the path of the file. binary is the path of its program, which is for platform.
	built, binary string
	platform      plugin.Platform
}

func (p releasedPackage) files(c *makeCommand) []packageFile {
	built := func(name string) string { return filepath.Join(c.Built, "xpkg", name+".xpkg") }
	if p.program == "" {
		return []packageFile{{name: fmt.Sprintf("%s_%s.xpkg", p.name, c.Version), built: built(p.built)}}
	}
	var out []packageFile
	for _, architecture := range c.linuxArchitectures() {
		out = append(out, packageFile{
			name:     fmt.Sprintf("%s_%s_linux_%s.xpkg", p.name, c.Version, architecture),
			built:    built(p.built + "-" + architecture),
			binary:   filepath.Join(c.Built, "linux", architecture, p.program),
			platform: plugin.Platform{OS: "linux", Architecture: architecture},
		})
	}
	return out
}

// writeLayouts writes each package into a folder of its own, as a registry will have it.
func (m *maker) writeLayouts(ctx context.Context) error {
	for _, p := range released {
		var files []string
		for _, f := range p.files(m.makeCommand) {
			files = append(files, f.built)
		}
		manifest, err := packages.Load(files)
		if err != nil {
			return err
		}
		all, err := m.sign(ctx, p, manifest)
		if err != nil {
			return err
		}
		// A registry has the signatures before the package that they belong to.
		all = append(all, packages.Tagged{Tag: m.Version, Manifest: manifest})
		if err := packages.Write(filepath.Join(m.out.dir, layouts, p.name), all); err != nil {
			return err
		}
	}
	return nil
}

// sign returns the signature of a package, and the attestations about it. Without a key it returns none.
func (m *maker) sign(ctx context.Context, p releasedPackage, manifest packages.Manifest) ([]packages.Tagged, error) {
	if m.signer == nil {
		return nil, nil
	}
	digest, err := manifest.Digest()
	if err != nil {
		return nil, fmt.Errorf("cannot read the digest of %s: %w", p.name, err)
	}
	repository, err := name.NewRepository(install.Repository + "/" + p.name)
	if err != nil {
		return nil, fmt.Errorf("cannot name the repository of %s: %w", p.name, err)
	}
	signature, err := m.signer.SignManifest(ctx, repository, digest)
	if err != nil {
		return nil, err
	}
	statements, err := m.attest(p, statement.Subject{Name: repository.Name(), SHA256: digest.Hex})
	if err != nil {
		return nil, err
	}
	attestations, err := m.signer.Attest(ctx, statements)
	if err != nil {
		return nil, err
	}
	return []packages.Tagged{
		{Tag: signing.SignatureTag(digest), Manifest: signature},
		{Tag: signing.AttestationTag(digest), Manifest: attestations},
	}, nil
}

// attest returns the statements about a package: its provenance, and the content of its program.
func (m *maker) attest(p releasedPackage, subject statement.Subject) ([]signing.Attestation, error) {
	subjects := []statement.Subject{subject}
	provenance, err := m.describe(subjects)
	if err != nil {
		return nil, err
	}
	out := []signing.Attestation{{Predicate: statement.Provenance, Statement: provenance}}
	document, ok := m.documents[p.name]
	if !ok {
		return out, nil
	}
	content, err := statement.ListContent(document, subjects)
	if err != nil {
		return nil, err
	}
	return append(out, signing.Attestation{Predicate: statement.SPDX, Statement: content}), nil
}

// A pushCommand pushes the packages of a release.
type pushCommand struct {
	Dist     string `default:"_output/dist" help:"The folder of the release."`
	Registry string `arg:"" help:"Where the packages go, such as ghcr.io/intentplane. Credentials are those of docker login."`
}

// Run pushes all packages, or none if one of them cannot be read or exists with other content.
func (c *pushCommand) Run(ctx context.Context) error {
	all, err := c.read()
	if err != nil {
		return err
	}
	if err := packages.Push(ctx, all, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return err
	}
	for _, d := range all {
		fmt.Fprintf(os.Stdout, "release: pushed %s:%s\n", d.Repository, d.Manifests[len(d.Manifests)-1].Tag)
	}
	return nil
}

// read returns the packages of the release: Configurations last, since they depend on the others.
func (c *pushCommand) read() ([]packages.Delivery, error) {
	var out []packages.Delivery
	for _, p := range slices.Backward(released) {
		manifests, err := packages.Read(filepath.Join(c.Dist, layouts, p.name))
		if err != nil {
			return nil, err
		}
		repository, err := name.NewRepository(c.Registry + "/" + p.name)
		if err != nil {
			return nil, fmt.Errorf("cannot push to registry %q: %w", c.Registry, err)
		}
		out = append(out, packages.Delivery{Repository: repository, Manifests: manifests})
	}
	return out, nil
}
