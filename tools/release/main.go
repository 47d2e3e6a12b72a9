// Command release makes the files of a release from built programs and packages, signs them with a key of the caller, and pushes the packages to a registry.
package main

import (
	"context"

	"github.com/alecthomas/kong"

	"github.com/intentplane/intentplane/tools/release/source"
)

// commands are the commands of release. "make release" runs check and make, around the builds.
type commands struct {
	Check checkCommand `cmd:"" help:"Refuse a checkout or a version that cannot be released."`
	Make  makeCommand  `cmd:"" help:"Make the folder with the files of a release."`
	Push  pushCommand  `cmd:"" help:"Push the packages of a release, with their signatures, to a registry."`
}

// A versionFlags names the version and its source.
type versionFlags struct {
	Version string `help:"The version, such as v0.1.0."`
	Root    string `default:"." help:"The folder of the checkout."`
	Rebuild bool   `help:"Make the files of a version again, from the commit of its tag."`
}

// readCheckout returns the checkout, or the reason why it cannot be released.
func (f versionFlags) readCheckout(ctx context.Context) (source.Checkout, error) {
	if err := source.CheckVersion(f.Version); err != nil {
		return source.Checkout{}, err
	}
	c, err := source.Read(ctx, f.Root, f.Version)
	if err != nil {
		return source.Checkout{}, err
	}
	return c, c.Check(f.Version, f.Rebuild)
}

type checkCommand struct{ versionFlags }

// Run returns the reason why the version cannot be released from the checkout.
func (c *checkCommand) Run(ctx context.Context) error {
	_, err := c.readCheckout(ctx)
	return err
}

func main() {
	ctx := kong.Parse(&commands{}, kong.Name("release"), kong.BindTo(context.Background(), (*context.Context)(nil)))
	if err := ctx.Run(); err != nil {
		ctx.Fatalf("%v", err)
	}
}
