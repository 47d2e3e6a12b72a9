package state

import "errors"

// Errors for errors.Is. The message of each names the action for the caller.
var (
	// ErrNoState means that a bundle has no record.
	ErrNoState = errors.New("no record")

	// ErrNoPackage means that the record of a bundle does not have a package.
	ErrNoPackage = errors.New("no such package")

	// ErrName means that a name, prefix or namespace is invalid.
	ErrName = errors.New("invalid name")

	// ErrForeign means that the Secret holds the record of another bundle.
	ErrForeign = errors.New("record of another bundle")

	// ErrBroken means that the Secret holds no valid record.
	ErrBroken = errors.New("broken record")

	// ErrNewer means that a newer version of this package wrote the record, which this version does not change.
	ErrNewer = errors.New("record of a newer schema")

	// ErrTooLarge means that a record exceeds the size of a Secret. Nothing was written.
	ErrTooLarge = errors.New("record is too large")

	// ErrTransition means that a status may not follow the previous status.
	ErrTransition = errors.New("illegal change of status")

	// ErrDeployed means that a record is not removed, since packages of the bundle are still deployed.
	ErrDeployed = errors.New("packages are still deployed")
)
