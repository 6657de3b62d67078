# shellcheck shell=sh
# The facts of packages, services, accounts and the machine itself. Each function is given `ID ARG…` for every
# question of its kind and answers with `fact` and `fact_unknown` (facts.sh). What a tool said is handed on raw
# where it needs understanding: suil does that at home.

facts_newline='
'
facts_tab='	'

# Says the same words for each question that is left. $1: the words, $2: how many arguments a question has.
facts_none() {
    facts_words=$1 facts_step=$(($2 + 1))
    shift 2
    while [ $# -ge "$facts_step" ]; do
        fact_unknown "$1" "$facts_words"
        shift "$facts_step"
    done
}

# Sets facts_names to the argument of each question of one argument.
facts_second() {
    facts_names=
    while [ $# -ge 2 ]; do
        facts_names="$facts_names $2"
        shift 2
    done
}

# apt, dnf or apk: by what the system is, then by what is there. A Debian with rpm installed stays a Debian.
facts_package_tool() {
    if [ -e /etc/debian_version ] && command -v dpkg-query >/dev/null 2>&1; then
        echo apt
    elif [ -e /etc/alpine-release ] && command -v apk >/dev/null 2>&1; then
        echo apk
    elif command -v rpm >/dev/null 2>&1 && { [ -d /var/lib/rpm ] || [ -d /usr/lib/sysimage/rpm ]; }; then
        # Without its database it is busybox's rpm, which answers nothing.
        echo rpm
    elif command -v dpkg-query >/dev/null 2>&1; then
        echo apt
    elif command -v apk >/dev/null 2>&1; then
        echo apk
    fi
}

# ID NAME: the lines of the package database for that name.
facts_package() {
    facts_tool=$(facts_package_tool)
    if [ -z "$facts_tool" ]; then
        facts_none 'needs dpkg-query, rpm or apk to read which packages are there' 1 "$@"
        return
    fi
    facts_second "$@"
    "facts_package_$facts_tool" "$@"
}

facts_package_apt() {
    # The names are checked at home: no blanks, no patterns.
    # shellcheck disable=SC2086,SC2016
    facts_lines=$(dpkg-query -W -f '${binary:Package}\t${db:Status-Want}\t${db:Status-Eflag}\t${db:Status-Status}\t${Version}\t${Architecture}\n' -- $facts_names 2>/dev/null)
    facts_status=$?
    # 1: some of the names are not known, and the other lines are there all the same.
    if [ "$facts_status" -gt 1 ]; then
        # shellcheck disable=SC2086
        facts_none "$(dpkg-query -W -- $facts_names 2>&1 >/dev/null)" 1 "$@"
        return
    fi
    facts_provides=
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_found=
        facts_there=no
        facts_ifs=$IFS
        IFS=$facts_newline
        set -f
        for facts_line in $facts_lines; do
            case $facts_line in
                "$facts_name$facts_tab"* | "$facts_name:"* | "${facts_name%:*}$facts_tab"*"$facts_tab${facts_name##*:}")
                    facts_found="$facts_found$facts_line$facts_newline"
                    case $facts_line in *"${facts_tab}not-installed$facts_tab"* | *"${facts_tab}config-files$facts_tab"*) ;; *) facts_there=yes ;; esac
                    ;;
            esac
        done
        set +f
        IFS=$facts_ifs
        facts_by=
        [ "$facts_there" = yes ] || facts_package_provided "$facts_name"
        fact "$facts_id" tool=apt "lines=$facts_found" "provided_by=$facts_by"
    done
}

# Sets facts_by to the installed packages that provide $1, where no package of that very name can be had.
facts_package_provided() {
    if [ -z "$facts_provides" ]; then
        # shellcheck disable=SC2016
        facts_provides=$(dpkg-query -W -f '${db:Status-Status}\t${binary:Package}\t, ${Provides},\n' | grep '^installed.*[a-z0-9]')
    fi
    facts_ifs=$IFS
    IFS=$facts_newline
    set -f
    for facts_line in $facts_provides; do
        case $facts_line in
            *", $1,"* | *", $1 ("*)
                facts_line=${facts_line#*"$facts_tab"}
                facts_by="$facts_by${facts_line%%"$facts_tab"*} "
                ;;
        esac
    done
    set +f
    IFS=$facts_ifs
    [ -n "$facts_by" ] || return 0
    [ -z "$(apt-cache show --no-all-versions -- "$1" 2>/dev/null)" ] || facts_by=
}

facts_package_rpm() {
    # What rpm says in words has no equals sign and no tab in front; words depend on the language, so they decide nothing.
    facts_format='=\t%{NAME}\t%{EPOCHNUM}\t%{VERSION}\t%{RELEASE}\t%{ARCH}\n'
    # shellcheck disable=SC2086
    facts_lines=$(rpm -q --qf "$facts_format" -- $facts_names 2>&1)
    case "$facts_newline$facts_lines" in
        *"${facts_newline}error: "*)
            facts_none "$facts_lines" 1 "$@"
            return
            ;;
    esac
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_found=
        facts_ifs=$IFS
        IFS=$facts_newline
        set -f
        for facts_line in $facts_lines; do
            case $facts_line in
                "=$facts_tab$facts_name$facts_tab"* | "=$facts_tab${facts_name%.*}$facts_tab"*"$facts_tab${facts_name##*.}")
                    facts_found="$facts_found$facts_line$facts_newline"
                    ;;
            esac
        done
        set +f
        IFS=$facts_ifs
        facts_by=
        if [ -z "$facts_found" ]; then
            facts_by=$(rpm -q --whatprovides --qf '%{NAME} ' -- "$facts_name" 2>/dev/null) || facts_by=
        fi
        fact "$facts_id" tool=rpm "lines=$facts_found" "provided_by=$facts_by"
    done
}

facts_package_apk() {
    facts_db=/lib/apk/db/installed
    [ -e "$facts_db" ] || facts_db=/usr/lib/apk/db/installed
    if ! facts_lines=$(awk -v OFS="$facts_tab" '
        /^P:/ { name = substr($0, 3); provides = "" }
        /^V:/ { version = substr($0, 3) }
        /^A:/ { arch = substr($0, 3) }
        /^p:/ { provides = substr($0, 3) }
        /^$/ { if (name != "") print name, version, arch, " " provides " "; name = "" }
        END { if (name != "") print name, version, arch, " " provides " " }' "$facts_db" 2>&1); then
        facts_none "$facts_lines" 1 "$@"
        return
    fi
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_found='' facts_by=''
        facts_ifs=$IFS
        IFS=$facts_newline
        set -f
        for facts_line in $facts_lines; do
            case $facts_line in
                "$facts_name$facts_tab"*) facts_found="$facts_found${facts_line%"$facts_tab"*}$facts_newline" ;;
                *" $facts_name "* | *" $facts_name="*) facts_by="$facts_by${facts_line%%"$facts_tab"*} " ;;
            esac
        done
        set +f
        IFS=$facts_ifs
        fact "$facts_id" tool=apk "lines=$facts_found" "provided_by=$facts_by"
    done
}

# ID NAME: the version that the node's repositories offer, as the node knows them now.
facts_candidate() {
    facts_tool=$(facts_package_tool)
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_found=
        case $facts_tool in
            apt) facts_found=$(apt-cache policy -- "$facts_name" 2>/dev/null | sed -n 's/^  Candidate: //p') ;;
            rpm)
                facts_found=$(dnf -q check-update -- "$facts_name" 2>&1)
                # 100: an update is there, 0: none, 1: it failed.
                case $? in
                    100) facts_found=$(printf '%s\n' "$facts_found" | awk -v name="$facts_name" 'index($1, name ".") == 1 { print $2; exit }') ;;
                    0) facts_found='' ;;
                    *)
                        fact_unknown "$facts_id" "$facts_found"
                        continue
                        ;;
                esac
                ;;
            apk) facts_found=$(apk version -- "$facts_name" 2>/dev/null | awk '$2 == "<" { print $3; exit }') ;;
            *)
                fact_unknown "$facts_id" 'needs apt-cache, dnf or apk to read which version is offered'
                continue
                ;;
        esac
        [ "$facts_found" != '(none)' ] || facts_found=
        fact "$facts_id" "version=$facts_found"
    done
}

# ID UNIT: what systemd says of the unit, in one call for all of them.
facts_service() {
    if ! command -v systemctl >/dev/null 2>&1; then
        facts_none 'needs systemctl: only systemd is known' 1 "$@"
        return
    fi
    facts_second "$@"
    facts_properties=Id,Type,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,ActiveEnterTimestamp,StateChangeTimestamp
    set -f
    # Before systemd 248 there are no microseconds to be had.
    # shellcheck disable=SC2086
    facts_rest=$(TZ=UTC systemctl show --timestamp=us -p "$facts_properties" -- $facts_names 2>/dev/null) ||
        facts_rest=$(TZ=UTC systemctl show -p "$facts_properties" -- $facts_names 2>&1) || {
        set +f
        facts_none "$facts_rest" 1 "$@"
        return
    }
    set +f
    while [ $# -ge 2 ]; do
        facts_id=$1
        shift 2
        facts_block=${facts_rest%%"$facts_newline$facts_newline"*}
        facts_rest=${facts_rest#"$facts_block"}
        facts_rest=${facts_rest#"$facts_newline$facts_newline"}
        facts_unit='' facts_type='' facts_load='' facts_active='' facts_sub='' facts_enabled='' facts_need=''
        facts_started='' facts_changed=''
        facts_ifs=$IFS
        IFS=$facts_newline
        set -f
        for facts_line in $facts_block; do
            facts_value=${facts_line#*=}
            case $facts_line in
                Id=*) facts_unit=$facts_value ;;
                Type=*) facts_type=$facts_value ;;
                LoadState=*) facts_load=$facts_value ;;
                ActiveState=*) facts_active=$facts_value ;;
                SubState=*) facts_sub=$facts_value ;;
                UnitFileState=*) facts_enabled=$facts_value ;;
                NeedDaemonReload=*) facts_need=$facts_value ;;
                ActiveEnterTimestamp=*) facts_started=$facts_value ;;
                StateChangeTimestamp=*) facts_changed=$facts_value ;;
            esac
        done
        set +f
        IFS=$facts_ifs
        if [ -z "$facts_load" ]; then
            fact_unknown "$facts_id" "systemctl show said nothing of it"
            continue
        fi
        fact "$facts_id" "unit=$facts_unit" "type=$facts_type" "load=$facts_load" "active=$facts_active" "sub=$facts_sub" \
            "enabled=$facts_enabled" "need_reload=$facts_need" "started_at=$facts_started" "changed_at=$facts_changed"
    done
}

# ID PATH: when the file was last written. One stat serves all; where it does not answer for each, each is asked for alone.
facts_mtime() {
    facts_at=0 facts_words=''
    for facts_word; do
        facts_at=$((facts_at + 1))
        if [ "$((facts_at % 2))" = 0 ] && [ -e "$facts_word" ]; then facts_words="$facts_words \"\${$facts_at}\""; fi
    done
    facts_rest=''
    [ -z "$facts_words" ] || eval "facts_rest=\$(TZ=UTC stat -L -c '%y %n' --$facts_words 2>/dev/null)"
    while [ $# -ge 2 ]; do
        facts_line=${facts_rest%%"$facts_newline"*}
        if [ ! -e "$2" ]; then
            fact "$1" state=absent
        elif [ -n "$facts_line" ] && [ "${facts_line%" $2"}" != "$facts_line" ]; then
            fact "$1" state=present "at=${facts_line%" $2"}"
            facts_rest=${facts_rest#"$facts_line"}
            facts_rest=${facts_rest#"$facts_newline"}
        elif facts_value=$(TZ=UTC stat -L -c %y -- "$2" 2>&1); then
            fact "$1" state=present "at=$facts_value"
        else
            fact_unknown "$1" "$facts_value"
        fi
        shift 2
    done
}

# ID NAME: an account of the local files, else of a directory that getent knows.
facts_user() {
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_source=
        while IFS=: read -r facts_word _ facts_uid facts_gid facts_comment facts_home facts_shell; do
            [ "$facts_word" = "$facts_name" ] || continue
            facts_source=files
            break
        done </etc/passwd
        if [ -n "$facts_source" ]; then
            facts_user_local
        else
            facts_user_directory
        fi
    done
}

facts_user_local() {
    facts_group='' facts_groups=''
    while IFS=: read -r facts_word _ facts_number facts_members; do
        [ "$facts_number" != "$facts_gid" ] || facts_group=$facts_word
        case ",$facts_members," in
            *",$facts_name,"*) facts_groups="$facts_groups${facts_groups:+$facts_newline}$facts_word" ;;
        esac
    done </etc/group
    facts_password=unreadable
    if [ -r /etc/shadow ]; then
        facts_password=none
        while IFS=: read -r facts_word facts_hash _; do
            [ "$facts_word" = "$facts_name" ] || continue
            # Its digest tells whether it is the wanted one and nothing else. printf is part of the shell: no argument list holds it.
            case $facts_hash in
                # What most accounts have, that nobody logs in to by password.
                '!') facts_password=bb7208bc9b5d7c04f1236a82a0093a5e33f40423d5ba8d4266f7092c3ba43b62 ;;
                '*') facts_password=684888c0ebb17f374298b65ee2807526c066094c701bcc7ebbe1c1095f494fc1 ;;
                *) facts_password=$(printf %s "$facts_hash" | sha256sum) || facts_password=unreadable ;;
            esac
            facts_password=${facts_password%% *}
            break
        done </etc/shadow
        facts_hash=
    fi
    fact "$facts_id" state=present source=files "uid=$facts_uid" "gid=$facts_gid" "group=$facts_group" "groups=$facts_groups" \
        "comment=$facts_comment" "home=$facts_home" "shell=$facts_shell" "password=$facts_password"
}

facts_user_directory() {
    if ! command -v getent >/dev/null 2>&1; then
        fact "$facts_id" state=absent
        return
    fi
    facts_line=$(getent passwd "$facts_name" 2>&1)
    case $? in
        0) ;;
        2)
            fact "$facts_id" state=absent
            return
            ;;
        *)
            fact_unknown "$facts_id" "$facts_line"
            return
            ;;
    esac
    facts_rest=${facts_line#*:*:}
    facts_uid=${facts_rest%%:*} facts_rest=${facts_rest#*:}
    facts_gid=${facts_rest%%:*} facts_rest=${facts_rest#*:}
    facts_comment=${facts_rest%%:*} facts_rest=${facts_rest#*:}
    facts_home=${facts_rest%%:*} facts_shell=${facts_rest#*:}
    facts_group=$(getent group "$facts_gid") || facts_group=
    fact "$facts_id" state=present source=directory "uid=$facts_uid" "gid=$facts_gid" "group=${facts_group%%:*}" \
        "id=$(id "$facts_name" 2>/dev/null)" "comment=$facts_comment" "home=$facts_home" "shell=$facts_shell" password=unreadable
}

# ID NAME: a group of the local files, else of a directory that getent knows.
facts_group() {
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_source=
        while IFS=: read -r facts_word _ facts_gid facts_members; do
            [ "$facts_word" = "$facts_name" ] || continue
            facts_source=files
            break
        done </etc/group
        if [ -z "$facts_source" ] && command -v getent >/dev/null 2>&1; then
            facts_line=$(getent group "$facts_name" 2>&1)
            case $? in
                0)
                    facts_source=directory
                    facts_rest=${facts_line#*:*:}
                    facts_gid=${facts_rest%%:*} facts_members=${facts_rest#*:}
                    ;;
                2) ;;
                *)
                    fact_unknown "$facts_id" "$facts_line"
                    continue
                    ;;
            esac
        fi
        if [ -n "$facts_source" ]; then
            fact "$facts_id" state=present "source=$facts_source" "gid=$facts_gid" "members=$facts_members"
        else
            fact "$facts_id" state=absent
        fi
    done
}

# ID KEY PROC FILE: the value that the kernel has now, and the lines of FILE that speak of KEY. The kernel gives some
# values in one read only, which a shell does not do; one grep serves those of one line.
facts_sysctl() {
    facts_at=0 facts_words='' facts_rest=''
    for facts_word; do
        facts_at=$((facts_at + 1))
        if [ "$((facts_at % 4))" = 3 ] && [ -r "$facts_word" ]; then facts_words="$facts_words \"\${$facts_at}\""; fi
    done
    [ $# -lt 8 ] || [ -z "$facts_words" ] || eval "facts_rest=\$(grep -H '' --$facts_words 2>/dev/null)"
    facts_rest=$facts_newline$facts_rest$facts_newline
    while [ $# -ge 4 ]; do
        facts_id=$1 facts_name=$2 facts_proc=$3 facts_file=$4
        shift 4
        facts_found=
        if [ -e "$facts_file" ]; then
            if [ ! -r "$facts_file" ]; then
                fact_unknown "$facts_id" "cannot read $facts_file"
                continue
            fi
            while IFS= read -r facts_line || [ -n "$facts_line" ]; do
                case $facts_line in *"$facts_name"*) facts_found="$facts_found$facts_line$facts_newline" ;; esac
            done <"$facts_file"
        fi
        facts_line=${facts_rest#*"$facts_newline$facts_proc:"}
        if [ ! -e "$facts_proc" ]; then
            fact "$facts_id" state=absent "lines=$facts_found"
        elif [ "$facts_line" != "$facts_rest" ] && [ "${facts_line#*"$facts_newline$facts_proc:"}" = "$facts_line" ]; then
            fact "$facts_id" state=present "value=${facts_line%%"$facts_newline"*}" "lines=$facts_found"
        elif facts_value=$(cat "$facts_proc" 2>&1); then
            fact "$facts_id" state=present "value=$facts_value" "lines=$facts_found"
        else
            fact_unknown "$facts_id" "$facts_value"
        fi
    done
}

# ID: the name that the kernel has now and the one that the next boot gives.
facts_hostname() {
    for facts_id in "$@"; do
        facts_found=
        if [ -r /etc/hostname ]; then
            while read -r facts_word _ || [ -n "$facts_word" ]; do
                case $facts_word in '' | '#'*) continue ;; esac
                facts_found=$facts_word
                break
            done </etc/hostname
        fi
        if read -r facts_value </proc/sys/kernel/hostname; then
            fact "$facts_id" "now=$facts_value" "saved=$facts_found"
        else
            fact_unknown "$facts_id" 'cannot read /proc/sys/kernel/hostname'
        fi
    done
}

# ID ZONE: where /etc/localtime points, what /etc/timezone says, and whether ZONE is there.
facts_timezone() {
    while [ $# -ge 2 ]; do
        facts_id=$1
        facts_there=no
        [ ! -f "/usr/share/zoneinfo/$2" ] || facts_there=yes
        shift 2
        facts_value=$(readlink /etc/localtime) || facts_value=
        facts_found=
        facts_word=no
        if [ -r /etc/timezone ]; then
            facts_word=yes
            read -r facts_found </etc/timezone || :
        fi
        fact "$facts_id" "link=$facts_value" "has_text=$facts_word" "text=$facts_found" "zone=$facts_there"
    done
}

# ID NAME: whether the module is in the kernel, and whether a boot loads it.
facts_kernel_module() {
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_there=no facts_found=no
        [ ! -d "/sys/module/$(printf %s "$facts_name" | tr - _)" ] || facts_there=yes
        [ ! -e "/etc/modules-load.d/$facts_name.conf" ] || facts_found=yes
        fact "$facts_id" "loaded=$facts_there" "saved=$facts_found"
    done
}

# ID PATH: the mount that is there now, and the line of /etc/fstab.
facts_mount() {
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_value='' facts_found=''
        while IFS= read -r facts_line; do
            # shellcheck disable=SC2086
            facts_word=${facts_line#* }
            case $facts_word in "$facts_name "*) facts_value=$facts_line ;; esac
        done </proc/self/mounts
        if [ -r /etc/fstab ]; then
            while read -r facts_source facts_word facts_rest || [ -n "$facts_source" ]; do
                case $facts_source in '' | '#'*) continue ;; esac
                [ "$facts_word" != "$facts_name" ] || facts_found="$facts_source $facts_word $facts_rest"
            done </etc/fstab
        fi
        fact "$facts_id" "now=$facts_value" "saved=$facts_found"
    done
}

# ID LOCALE: the system's LANG, and whether LOCALE is there.
facts_locale() {
    while [ $# -ge 2 ]; do
        facts_id=$1 facts_name=$2
        shift 2
        facts_value='' facts_found=
        for facts_file in /etc/locale.conf /etc/default/locale; do
            [ -r "$facts_file" ] || continue
            facts_found=$facts_file
            while IFS= read -r facts_line || [ -n "$facts_line" ]; do
                case $facts_line in LANG=*) facts_value=${facts_line#LANG=} ;; esac
            done <"$facts_file"
            break
        done
        facts_there=$(locale -a 2>/dev/null) || facts_there=
        fact "$facts_id" "lang=$facts_value" "file=$facts_found" "have=$facts_there"
    done
}
