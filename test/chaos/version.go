// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bytes"
	"compress/gzip"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// thing is the name of the resources that the ledger records, in the modules.
const thing = "thing"

// A version is a state as it was stored at some time.
type version struct {
	// state identifies it: see record.State.
	state string

	// time of the observation, in nanoseconds since 1970.
	time int64

	// deleted says that the state was deleted. The fields below are empty then.
	deleted bool

	lineage string
	serial  int

	// things are the resources of the ledger, by id. The value says whether the resource
	// is tainted: the CLI then replaces it, because its creation was not completed.
	things map[string]bool
}

// readVersion reads a state as the kubernetes backend stores it. There may be a place
// for a state before there is a state.
func readVersion(state string, data []byte) (version, error) {
	if len(data) == 0 {
		return version{state: state}, nil
	}

	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return version{}, errors.Wrap(err, "cannot decompress state")
	}

	stored := struct {
		Lineage   string `json:"lineage"`
		Serial    int    `json:"serial"`
		Resources []struct {
			Name      string `json:"name"`
			Instances []struct {
				Status     string `json:"status"`
				Attributes struct {
					ID string `json:"id"`
				} `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}{}
	if err := json.NewDecoder(z).Decode(&stored); err != nil {
		return version{}, errors.Wrap(err, "cannot read state")
	}

	v := version{state: state, lineage: stored.Lineage, serial: stored.Serial, things: map[string]bool{}}

	for _, r := range stored.Resources {
		if r.Name != thing {
			continue
		}

		for _, i := range r.Instances {
			v.things[i.Attributes.ID] = i.Status == "tainted"
		}
	}

	return v, nil
}
