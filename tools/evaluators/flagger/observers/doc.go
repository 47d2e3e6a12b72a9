// Package observers renders queries as Flagger's package of the same name does.
package observers
