{one} = {other}
