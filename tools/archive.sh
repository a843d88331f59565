# The distribution's archive, for scripts of bash that source this file. Its
# address is the one in this machine's apt configuration, which is read and
# never changed.

# The address of the Debian archive this machine installs from. (--print-uris
# knows it even before the first "apt-get update".)
archive() {
	local codename address
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	address=$(apt-get --print-uris update |
		sed -nE "s#^'(.*)/dists/($codename|stable|testing|unstable|sid)/.*#\1#p" | sed -n 1p)
	case $address in
	mirror+file:*) sed -n '1s/\t.*//;1p' "${address#mirror+file:}" ;;
	*) echo "$address" ;;
	esac
}

# apt_in DIR deb|deb-src SUITE: a folder with the state of an apt of its own,
# which knows only one release, and believes that nothing is installed.
apt_in() {
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	: >"$1/status"
	echo "$2 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(archive) $3 main" >"$1/sources.list"
}

# with_apt_in DIR COMMAND OPTION...: apt-get or apt-cache on that state
with_apt_in() {
	local dir=$1 command=$2
	shift 2
	"$command" -q -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$dir/lists" -o Dir::State::Status="$dir/status" \
		-o Dir::Cache="$dir/cache" -o APT::Sandbox::User= "$@"
}
