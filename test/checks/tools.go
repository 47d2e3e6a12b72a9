package checks

// fakeGo builds a program on a disk of its variable: a good one, a full one, or one whose machine kills the build, with all processes of its group.
const fakeGo = `#!/usr/bin/env bash
case "$*" in
"env GOVERSION") echo go1.26.0 ;;
env*) printf '%s\n' go1.26.0 linux "$ARCH" ;;
build*)
	while [[ $1 != -o ]]; do shift; done
	[[ $DISK != full ]] || { echo 'write: no space left on device' >&2; exit 1; }
	echo half >"$2"
	[[ $DISK != killed ]] || kill -9 0
	;;
esac
`

// A toolBuild is one run of tools.sh, for an architecture, on a disk.
type toolBuild struct {
	arch, disk string
	// want is a part of the output, and empty if nothing is built.
	want  string
	fails bool
}
