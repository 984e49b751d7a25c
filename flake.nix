# SPDX-License-Identifier: GPL-2.0-or-later
# nix run . -- sim run --profile pm9a3 --workload 'rw=randread'
# The package has the command, vssd-sim, vssd-oplog-check and vssd-server.  Guests
# need QEMU with the device, which `./vssd setup` of a checkout builds, or a QEMU
# 10.1 or later for vssd-server.
{
  description = "vssd, a virtual SSD";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = f: nixpkgs.lib.genAttrs systems
        (system: f nixpkgs.legacyPackages.${system});
      # The libraries of the command, so that it downloads none.
      python = pkgs: pkgs.python3.withPackages (p: [
        p.argparse-manpage p.rich p.rich-argparse p.shtab
      ]);
      # A part of QEMU's sources, which vssd-server is linked with.
      libvfioUser = pkgs: pkgs.runCommand "libvfio-user-source" { } ''
        mkdir $out
        tar -xf ${pkgs.qemu.src} -C $out --wildcards --strip-components=3 \
          '*/subprojects/libvfio-user/*'
      '';
    in {
      packages = each (pkgs: {
        default = pkgs.stdenv.mkDerivation {
          pname = "vssd";
          version = "0.1.0";
          src = self;
          nativeBuildInputs = [ pkgs.meson pkgs.ninja pkgs.pkg-config (python pkgs) ];
          buildInputs = [ pkgs.glib pkgs.json_c pkgs.xz pkgs.zlib pkgs.zstd ];
          mesonFlags = [
            "-Dtests=false" "-Dguest_tools=disabled" "-Dman=enabled"
            "-Dlibvfio_user=${libvfioUser pkgs}"
          ];
          mesonBuildType = "release";
          postPatch = "patchShebangs core packaging";
          meta = {
            description = "Virtual SSD: the vssd command and the simulator vssd-sim";
            license = nixpkgs.lib.licenses.gpl2Plus;
            mainProgram = "vssd";
            platforms = systems;
          };
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${pkgs.system}.default ];
          packages = [ (python pkgs) ];
        };
      });
    };
}
