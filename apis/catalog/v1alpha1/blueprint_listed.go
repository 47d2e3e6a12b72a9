package v1alpha1

// LabelListed is a label of Blueprints whose names messages suggest. The provider keeps it. The function asks for Blueprints by it when the one
// that a deployment names does not exist: MaxListedBytes and MaxListed bound the request, which would else hold every manifest of the catalog.
const LabelListed = "catalog.intentplane.dev/listed"

// ListedTrue is the value of LabelListed.
const ListedTrue = "true"

// Bounds of the Blueprints with LabelListed: 6 MiB together, of the 16 MiB that a request may have.
const (
	// MaxListedBytes is how large a Blueprint with LabelListed is at most, as JSON.
	MaxListedBytes = 32 << 10

	// MaxListed is how many Blueprints have LabelListed at most.
	MaxListed = 200
)
