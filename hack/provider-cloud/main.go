// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Command provider-cloud is a Terraform provider for tests. Its cloud is a directory, where a test changes and removes objects,
// as third parties do, and says with files how the next calls fail or what they warn of.
//
// An object NAME is the file objects/NAME.json. A file faults/FAULT is a fault of each object, and faults/FAULT.NAME of one.
// The content of the file is the text of its diagnostic.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	provider_schema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The faults.
const (
	lateError     = "late_error"     // A create fails after it has made the object.
	createAbsent  = "create_absent"  // A create succeeds without an object, as where a read does not see it yet.
	createWarning = "create_warning" // A create warns.
	planWarning   = "plan_warning"   // A plan that is not the one of a destroy warns.
	deleteError   = "delete_error"   // A delete fails and removes nothing.
	deleteWarning = "delete_warning" // A delete warns.
)

func main() {
	serve := func() provider.Provider { return &cloud{} }
	if err := providerserver.Serve(context.Background(), serve, providerserver.ServeOpts{Address: "registry.terraform.io/example/cloud"}); err != nil {
		log.Fatal(err)
	}
}

// A cloud is a directory.
type cloud struct {
	Directory types.String `tfsdk:"directory"`
}

func (c *cloud) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "cloud"
}

func (c *cloud) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = provider_schema.Schema{Attributes: map[string]provider_schema.Attribute{
		"directory": provider_schema.StringAttribute{Required: true},
	}}
}

func (c *cloud) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	resp.Diagnostics.Append(req.Config.Get(ctx, c)...)
	resp.ResourceData = c
}

func (c *cloud) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (c *cloud) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &objects{} }}
}

// diagnose adds the error or the warning of a fault, if it is set.
func (c *cloud) diagnose(add func(summary, detail string), fault, name string) bool {
	for _, file := range []string{fault + "." + name, fault} {
		text, err := os.ReadFile(filepath.Join(c.Directory.ValueString(), "faults", file))
		if err == nil {
			add("Cloud: "+fault, string(text))

			return true
		}
	}

	return false
}

// quiet is for faults without a diagnostic.
func quiet(string, string) {}

func (c *cloud) file(name string) string {
	return filepath.Join(c.Directory.ValueString(), "objects", name+".json")
}

func (c *cloud) write(o object, diags *diag.Diagnostics) {
	data, err := json.Marshal(map[string]*string{"kind": o.Kind.ValueStringPointer(), "size": o.Size.ValueStringPointer(), "tag": o.Tag.ValueStringPointer()})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(c.file(o.Name.ValueString())), 0o755)
	}

	if err == nil {
		err = os.WriteFile(c.file(o.Name.ValueString()), data, 0o644)
	}

	if err != nil {
		diags.AddError("Cloud: cannot write", err.Error())
	}
}

// objects is the resource cloud_object.
type objects struct{ cloud *cloud }

type object struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
	Kind types.String `tfsdk:"kind"`
	Size types.String `tfsdk:"size"`
	Tag  types.String `tfsdk:"tag"`
}

func (r *objects) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "cloud_object"
}

func (r *objects) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   schema.StringAttribute{Computed: true, PlanModifiers: keep},
		"name": schema.StringAttribute{Required: true, PlanModifiers: replace},
		"kind": schema.StringAttribute{Optional: true, PlanModifiers: replace},
		"size": schema.StringAttribute{Optional: true},
		"tag":  schema.StringAttribute{Optional: true},
	}}
}

func (r *objects) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.cloud, _ = req.ProviderData.(*cloud)
}

func (r *objects) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() { // It is destroyed.
		return
	}

	var o object

	resp.Diagnostics.Append(req.Plan.Get(ctx, &o)...)
	r.cloud.diagnose(resp.Diagnostics.AddWarning, planWarning, o.Name.ValueString())
}

func (r *objects) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var o object

	resp.Diagnostics.Append(req.Plan.Get(ctx, &o)...)
	name := o.Name.ValueString()
	r.cloud.diagnose(resp.Diagnostics.AddWarning, createWarning, name)

	if r.cloud.diagnose(quiet, createAbsent, name) {
		return
	}

	o.ID = types.StringValue("id-" + name)
	r.cloud.write(o, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, o)...)
	r.cloud.diagnose(resp.Diagnostics.AddError, lateError, name)
}

func (r *objects) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var o object

	resp.Diagnostics.Append(req.State.Get(ctx, &o)...)

	data, err := os.ReadFile(r.cloud.file(o.Name.ValueString()))
	if errors.Is(err, fs.ErrNotExist) {
		resp.State.RemoveResource(ctx)

		return
	}

	var found map[string]*string
	if err == nil {
		err = json.Unmarshal(data, &found)
	}

	if err != nil {
		resp.Diagnostics.AddError("Cloud: cannot read", err.Error())

		return
	}

	o.Kind, o.Size, o.Tag = types.StringPointerValue(found["kind"]), types.StringPointerValue(found["size"]), types.StringPointerValue(found["tag"])
	resp.Diagnostics.Append(resp.State.Set(ctx, o)...)
}

func (r *objects) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var o object

	resp.Diagnostics.Append(req.Plan.Get(ctx, &o)...)
	r.cloud.write(o, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, o)...)
}

func (r *objects) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var o object

	resp.Diagnostics.Append(req.State.Get(ctx, &o)...)
	name := o.Name.ValueString()
	r.cloud.diagnose(resp.Diagnostics.AddWarning, deleteWarning, name)

	if r.cloud.diagnose(resp.Diagnostics.AddError, deleteError, name) {
		return
	}

	if err := os.Remove(r.cloud.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		resp.Diagnostics.AddError("Cloud: cannot delete", err.Error())
	}
}
